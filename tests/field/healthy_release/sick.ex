defmodule Shop.Carts do
  # The state of all carts, in an agent.
  use Agent
  def start_link(_), do: Agent.start_link(fn -> %{} end, name: __MODULE__)
  def put(user, item), do: Agent.update(__MODULE__, &Map.put(&1, rem(user, 500), item))
  def get(user), do: Agent.get(__MODULE__, &Map.get(&1, rem(user, 500)))
end

defmodule Shop.Stock do
  use GenServer
  def start_link(_), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)
  def init(_), do: {:ok, %{sold: 0}}
  def handle_call(:sell, _from, state), do: {:reply, :ok, %{state | sold: state.sold + 1}}
end

defmodule Shop.Application do
  # Supervisors, a registry, tasks for the requests, a server and an agent, as a release has them, under load.
  def start do
    children = [
      {Registry, keys: :unique, name: Shop.Registry},
      {Task.Supervisor, name: Shop.Requests},
      Shop.Carts,
      Shop.Stock
    ]

    {:ok, supervisor} = Supervisor.start_link(children, strategy: :one_for_one, name: Shop.Supervisor)
    Process.unlink(supervisor)
    for n <- 1..10, do: spawn(fn -> visits(n) end)
    :ok
  end

  def visits(n) do
    {:ok, _} = Task.Supervisor.start_child(Shop.Requests, fn -> request(n) end)
    Process.sleep(5)
    visits(n + 10)
  end

  def request(n) do
    {:ok, _} = Registry.register(Shop.Registry, n, nil)
    Shop.Carts.put(n, String.duplicate("book ", 20))
    :ok = GenServer.call(Shop.Stock, :sell)
    Shop.Carts.get(n)
  end
end

defmodule :sick do
  def start, do: Shop.Application.start()
end
