defmodule Slow do
  use GenServer, restart: :temporary
  def start_link(n), do: GenServer.start_link(__MODULE__, n)

  # It asks a database before it is ready, and its supervisor waits.
  def init(n) do
    Process.sleep(50)
    {:ok, n}
  end
end

defmodule :sick do
  def start do
    {:ok, sup} = DynamicSupervisor.start_link(strategy: :one_for_one, name: RoomSupervisor)
    Process.unlink(sup)
    for n <- 1..5000, do: spawn(fn -> DynamicSupervisor.start_child(RoomSupervisor, {Slow, n}) end)
    Process.sleep(500)
    :ok
  end
end
