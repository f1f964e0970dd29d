defmodule Rates do
  # Each call asks another service, which takes 50 ms, and 400 requests wait for their turn.
  use GenServer
  def init(_), do: {:ok, nil}

  def handle_call({:rate, _currency}, _from, state) do
    Process.sleep(50)
    {:reply, 1.0, state}
  end
end

defmodule :sick do
  def start do
    {:ok, _} = GenServer.start(Rates, nil, name: Rates)
    for n <- 1..400, do: spawn(fn -> request(n) end)
    Process.sleep(300)
    :ok
  end

  def request(n) do
    1.0 = GenServer.call(Rates, {:rate, n}, :infinity)
    request(n)
  end
end
