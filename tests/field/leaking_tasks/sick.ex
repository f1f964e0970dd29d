defmodule Ratelimiter do
  # A task for each request waits for an answer that a lost connection never brings.
  def request(n) do
    Task.start(fn ->
      receive do
        {:response, ^n, body} -> body
      end
    end)
  end
end

defmodule :sick do
  def start do
    for n <- 1..29_500, do: Ratelimiter.request(n)
    spawn(fn -> more(29_501) end)
    :ok
  end

  def more(n) when n < 30_500 do
    Ratelimiter.request(n)
    Process.sleep(50)
    more(n + 1)
  end

  def more(_), do: :ok
end
