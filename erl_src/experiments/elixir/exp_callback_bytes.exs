# What a callback takes up while it waits, beside a process and an Agent, all written in Elixir: the slope over their number.
#
#     ./ertslab compare erl_src/experiments/elixir/exp_callback_bytes.exs --vm stock,stock_copy
defmodule :exp_callback_bytes do
  @behaviour :ertslab_experiment

  def info do
    %{
      title: ~c"callbacks and processes of Elixir that wait",
      shows: ~c"what each of them takes up",
      origin: ~c"zeam-vm/zeam_callback: callback threads in Elixir of 1.3 KB, against 2.8 KB for a process",
      vms: ["stock", "stock_copy"],
      parameters: [
        %{name: :units, min: 1000, max: 200_000, quick: [20_000], full: [50_000], doc: ~c"of each, at the last of five points"}
      ],
      metrics: [
        %{name: :callback, unit: :bytes, doc: ~c"a callback that waits by a named function"},
        %{name: :closure, unit: :bytes, doc: ~c"a callback that waits by a fun that keeps a word"},
        %{name: :process, unit: :bytes, doc: ~c"a process that waits, by spawn"},
        %{name: :agent, unit: :bytes, doc: ~c"an Agent"}
      ],
      contrasts: [%{name: :bytes, over: :process, under: :callback, says: ~c"bytes of a process to a callback"}],
      estimator: :typical,
      rounds: :none,
      run_ms: 0,
      warm_up: 1,
      iterations: 1,
      timeout_ms: 300_000
    }
  end

  def setup(%{units: units}) do
    {:ok, _} = Application.ensure_all_started(:elixir)
    {:ok, _} = Application.ensure_all_started(:callbacks)
    %{sizes: Enum.map(1..5, &div(&1 * units, 5))}
  end

  def prepare(_, state), do: state

  # The first ones make the VM load and allocate what the others do not.
  def run(metric, %{sizes: sizes}) do
    :ok = :process_population.ready()
    stop(metric, start(metric, 100))
    {points, units} = Enum.map_reduce(sizes, [], &grow(metric, &1, &2))
    stop(metric, units)
    {points, length(units)}
  end

  # The list of the units is on this process's heap, and not theirs.
  defp grow(metric, size, units) do
    more = start(metric, size - length(units)) ++ units
    :ok = :callback_population.settle()
    {:memory, own} = Process.info(self(), :memory)
    {[size, :erlang.memory(:total) - own], more}
  end

  defp start(metric, number), do: for(n <- 1..number//1, do: unit(metric, n))

  defp unit(:callback, _), do: :callbacks.spawn(&__MODULE__.wait/0)
  defp unit(:closure, n), do: :callbacks.spawn(fn -> {:wait, fn :stop -> if(n > 0, do: :done) end} end)
  defp unit(:process, _), do: spawn(fn -> receive(do: (:stop -> :ok)) end)
  defp unit(:agent, _), do: elem(Agent.start(fn -> 0 end), 1)

  def wait, do: {:wait, &__MODULE__.waited/1}
  def waited(:stop), do: :done

  defp stop(metric, units) do
    for unit <- units, do: if(metric in [:callback, :closure], do: :callbacks.send(unit, :stop), else: Process.exit(unit, :kill))
    :callback_population.settle()
  end

  def verify(_, units, %{sizes: sizes}), do: :ertslab_experiment.expect(List.last(sizes), units)
  def teardown(_), do: :ok
end
