defmodule Sessions do
  # Sessions are put into a table, and nobody ever deletes one.
  use GenServer
  def start(_), do: GenServer.start(__MODULE__, [], name: __MODULE__)

  def init(_) do
    :ets.new(:session_store, [:named_table, :public, :set])
    for n <- 1..300_000, do: put(n)
    send(self(), {:request, 300_001})
    {:ok, nil}
  end

  def handle_info({:request, n}, state) do
    for k <- 0..9, do: put(n + k)
    Process.send_after(self(), {:request, n + 10}, 10)
    {:noreply, state}
  end

  defp put(n) do
    :ets.insert(:session_store, {"session-#{n}", %{user: n, cart: Enum.to_list(1..40), seen: "2026-11-25"}})
  end
end

defmodule :sick do
  def start do
    {:ok, _} = Sessions.start([])
    :ok
  end
end
