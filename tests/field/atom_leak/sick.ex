defmodule Params do
  # Keys of requests become atoms.
  def parse(query) do
    for pair <- String.split(query, "&"), into: %{} do
      [key, value] = String.split(pair, "=")
      {String.to_atom(key), value}
    end
  end
end

defmodule :sick do
  def start do
    for n <- 1..92_000, do: Params.parse("session_#{n}=1")
    spawn(fn -> requests(92_001) end)
    :ok
  end

  def requests(n) when n < 93_500 do
    Params.parse("session_#{n}=1")
    Process.sleep(20)
    requests(n + 1)
  end

  def requests(n), do: Process.sleep(:infinity) && requests(n)
end
