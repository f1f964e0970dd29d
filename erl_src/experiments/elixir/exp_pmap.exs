# The parallel map of zacky1972's article in its own language: a task for each element, in three sizes.
#
#     ./ertslab compare erl_src/experiments/elixir/exp_pmap.exs --vm stock --flags "+hmqd off_heap"
#     ./ertslab sweep erl_src/experiments/elixir/exp_pmap.exs --vm stock --over queue=on_heap,off_heap
defmodule :exp_pmap do
  @behaviour :ertslab_experiment

  def info do
    %{
      title: ~c"a parallel map in Elixir",
      shows: ~c"what message_queue_data does to Task.async and Task.await, and to senders that live long",
      origin: ~c"zacky1972 on message_queue_data, Qiita 2021; long-lived senders were left open there",
      vms: ["stock", "stock_copy"],
      parameters: [
        %{name: :elements, min: 1, max: 200_000, quick: [1000], full: [1000, 10_000, 100_000], doc: ~c"elements of the list"},
        %{name: :queue, of: [:as_started, :on_heap, :off_heap], quick: [:as_started], full: [:as_started],
          doc: ~c"the message_queue_data of the process that maps, by Process.flag; as_started is that of +hmqd"}
      ],
      metrics: [
        %{name: :tasks, doc: ~c"mapping the list with a task for each element"},
        %{name: :senders, doc: ~c"the same by 10 processes that were there before, each with a tenth of the elements"}
      ],
      contrasts: [],
      estimator: :typical,
      rounds: :metrics,
      warm_up: 1,
      iterations: 1,
      timeout_ms: 300_000
    }
  end

  def setup(%{elements: elements} = params) do
    {:ok, _} = Application.ensure_all_started(:elixir)
    Map.merge(params, %{list: Enum.to_list(1..elements), senders: []})
  end

  def prepare(:tasks, state), do: state
  def prepare(:senders, state), do: %{state | senders: for(_ <- 1..10, do: spawn_link(&sender/0))}

  # Each map has a fresh process.
  def run(metric, %{queue: queue} = state) do
    Task.async(fn ->
      if queue != :as_started, do: Process.flag(:message_queue_data, queue)
      :ertslab_experiment.timed(fn -> metric |> pmap(state) |> Enum.sum() end)
    end)
    |> Task.await(:infinity)
  end

  defp pmap(:tasks, %{list: list}) do
    list |> Enum.map(&Task.async(fn -> &1 * &1 end)) |> Enum.map(&Task.await(&1, :infinity))
  end

  # Results are taken in the order of the list, each by the number of its element.
  defp pmap(:senders, %{list: list, senders: senders}) do
    for {n, sender} <- Enum.zip(list, Stream.cycle(senders)), do: send(sender, {self(), n})
    for n <- list, do: receive(do: ({^n, square} -> square))
  end

  defp sender do
    receive do
      {client, n} ->
        send(client, {n, n * n})
        sender()

      :stop ->
        :ok
    end
  end

  def verify(_, sum, %{elements: n}), do: :ertslab_experiment.expect(div(n * (n + 1) * (2 * n + 1), 6), sum)

  def teardown(%{senders: senders}) do
    for sender <- senders, do: send(sender, :stop)
    :ok
  end
end
