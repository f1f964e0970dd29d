defmodule Mix.Tasks.Audit.Mailbox do
  @shortdoc "Finds receives that scan the whole mailbox"

  @moduledoc """
  Compiles the project, and lists the receives that scan the whole mailbox.

      mix audit.mailbox                                  # sorted by the number of exported functions that reach them
      mix audit.mailbox --write-baseline audit.baseline  # records the current findings as known
      mix audit.mailbox --baseline audit.baseline        # for CI: fails on new findings
      mix audit.mailbox --sarif audit.sarif --deps       # a file for a code host; also judges dependencies

  ## Options

    * `--baseline FILE`, `-b` - a file of known findings; fails only on findings that are not in it
    * `--write-baseline FILE`, `-w` - writes the findings into such a file
    * `--sarif FILE`, `-s` - writes the findings as SARIF 2.1.0 into this file
    * `--deps`, `-d` - also judges the receives of dependencies

  It fails if nothing was judged. With `--baseline` it also fails if a module was not judged, because that module may scan.

  The line of a receive that a macro made is the line that uses the macro. If the macro keeps its own lines, it is the line in the
  macro.
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
      {_, [word | _], _} -> Mix.raise("'#{word}' is not an option; see mix help audit.mailbox")
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
