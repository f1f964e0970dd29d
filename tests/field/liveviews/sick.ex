defmodule ShopLive do
  # Each view renders a list of 20,000 books when it is mounted, keeps one of them, and waits for its user.
  use GenServer
  def init(n) do
    books = for k <- 1..20_000, do: %{id: k, title: {n, k}, tags: [n, k]}
    {:ok, %{selected: Enum.max_by(books, & &1.id)}}
  end

  def handle_call(:selected, _from, state), do: {:reply, state.selected, state}
end

defmodule :sick do
  def start do
    for n <- 1..200, do: {:ok, _} = GenServer.start(ShopLive, n)
    :ok
  end
end
