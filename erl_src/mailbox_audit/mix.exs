# For the task of mix, which is Elixir. What an application is, src/mailbox_audit.app.src says.
defmodule MailboxAudit.MixProject do
  use Mix.Project

  def project do
    [app: :mailbox_audit, version: to_string(app(:vsn)), description: to_string(app(:description)), elixir: "~> 1.14"]
  end

  def application, do: [extra_applications: [:compiler]]

  defp app(key) do
    {:ok, [{:application, :mailbox_audit, properties}]} = :file.consult(Path.join(__DIR__, "src/mailbox_audit.app.src"))
    properties[key]
  end
end
