defmodule Mix.Tasks.Audit.Mailbox do
  @shortdoc "Finds receives that look through a whole mailbox"

  @moduledoc """
  Compiles the project, and says of each of its receives whether it looks at every message that waits.

      mix audit.mailbox                                  # what scans, most reached first
      mix audit.mailbox --write-baseline audit.baseline  # what is known from now on
      mix audit.mailbox --baseline audit.baseline        # for CI: fails on what is new
      mix audit.mailbox --sarif audit.sarif --deps       # for a code host; with dependencies

  It fails where nothing was judged, and with a baseline also where a module was not: what is not judged may scan.

  A receive that a macro brings is named by the line where the macro is used, or where it was written if it keeps that.
  """

  use Mix.Task

  @switches [baseline: :string, write_baseline: :string, sarif: :string, deps: :boolean]
  @aliases [b: :baseline, w: :write_baseline, s: :sarif, d: :deps]

  @impl true
  def run(args) do
    options = options(args)
    Mix.Task.run("compile")

    case :mailbox_audit_project.audit(folders(options), options, &Mix.shell().info(to_string(&1))) do
      :ok -> :ok
      {:error, reason} -> Mix.raise(to_string(:mailbox_audit_project.format_error(reason)))
    end
  end

  defp options(args) do
    case OptionParser.parse(args, strict: @switches, aliases: @aliases) do
      {options, [], []} -> Map.new(options)
      {_, [word | _], _} -> Mix.raise("'#{word}' is no option; see mix help audit.mailbox")
      {_, _, [{word, _} | _]} -> Mix.raise("there is no option #{word}, or its value is wrong; see mix help audit.mailbox")
    end
  end

  # As charlists, which the audit takes for folders.
  defp folders(options) do
    ebins(own_apps()) ++
      if(options[:deps], do: :mailbox_audit_project.built(ebins(Map.keys(Mix.Project.deps_paths()))), else: [])
  end

  defp ebins(apps) do
    for app <- apps, do: String.to_charlist(Path.join([Mix.Project.build_path(), "lib", to_string(app), "ebin"]))
  end

  defp own_apps do
    if Mix.Project.umbrella?(), do: Map.keys(Mix.Project.apps_paths()), else: [Mix.Project.config()[:app]]
  end
end
