%% @doc The style sheet of a report: light and dark, on a phone, on paper.
-module(ertslab_report_style).

-export([css/0]).

%% @doc The whole style sheet. It contains no character that XML would have to escape.
-spec css() -> binary().
css() -> iolist_to_binary([colours(), text(), parts(), tables(), plots(), arms(), media()]).

colours() ->
    <<"
    :root {
      color-scheme: light dark;
      --paper: #ffffff; --panel: #f4f6f8; --ink: #1a2026; --soft: #55606a; --line: #d3d9de;
      --link: #0b5cad; --good: #0a6b3d; --bad: #a8330f; --open: #6b5200; --alarm: #9c1030;
      --floor: #e3d9c0; --arm0: #5a6570; --arm1: #0b63b0; --arm2: #b4530a; --arm3: #177245; --arm4: #8a2f8f;
    }
    @media screen and (prefers-color-scheme: dark) {
      :root {
        --paper: #14181c; --panel: #1e242a; --ink: #e9edf0; --soft: #a9b4bd; --line: #3a434b;
        --link: #7cb8f5; --good: #6fd3a0; --bad: #ff9a76; --open: #e0c060; --alarm: #ff8fa3;
        --floor: #4a4230; --arm0: #a3aeb8; --arm1: #62aef2; --arm2: #f2a35e; --arm3: #62cf97; --arm4: #dd92e0;
      }
    }
    ">>.

text() ->
    <<"
    * { box-sizing: border-box; }
    html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
    body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
    main { max-width: 76rem; margin: 0 auto; padding: 1rem 1rem 4rem; }
    h1, h2, h3, h4 { line-height: 1.25; margin: 2.2rem 0 .6rem; overflow-wrap: anywhere; }
    h1 { font-size: clamp(1.35rem, 4.5vw, 2rem); margin-top: .2rem; }
    h2 { font-size: 1.3rem; } h3 { font-size: 1.1rem; } h4 { font-size: 1rem; }
    p, li, dd { max-width: 46rem; overflow-wrap: anywhere; }
    a { color: var(--link); }
    code, pre { font: .9em/1.5 ui-monospace, monospace; }
    pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem;
      white-space: pre-wrap; overflow-wrap: anywhere; }
    .skip { position: absolute; left: -999rem; }
    .skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem 1rem; z-index: 1; }
    :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
    .about, .hint { color: var(--soft); margin: .2rem 0; }

    ">>.

parts() ->
    <<"
    .verdict { border-left: 6px solid var(--soft); background: var(--panel); border-radius: 6px;
      padding: 1rem 1.2rem; margin: 1rem 0; }
    .verdict h1, .verdict h2 { margin-top: 0; }
    .verdict p { margin: .35rem 0; max-width: 60rem; }
    .verdict.faster, .verdict.same { border-color: var(--good); }
    .verdict.slower { border-color: var(--bad); }
    .verdict.unsure { border-color: var(--open); }
    .verdict.void { border: 3px solid var(--alarm); }
    .verdict.void h1, .verdict.void h2 { color: var(--alarm); }
    .warnings { list-style: none; padding: 0; margin: .8rem 0 0; }
    .warnings li { padding-left: 1.4rem; text-indent: -1.4rem; }
    .warnings li::before { content: \"!\"; display: inline-block; width: 1.4rem; text-indent: 0; font-weight: 700;
      color: var(--open); }
    nav ul, .legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; padding: 0; }
    nav a { display: inline-block; padding: .3rem 0; }
    .legend { color: var(--soft); }
    .legend svg { vertical-align: -2px; margin-right: .3rem; }
    .folder { border-top: 3px solid var(--line); margin-top: 3rem; padding-top: 1rem; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
    dt { color: var(--soft); } dd { margin: 0; }
    summary { cursor: pointer; padding: .4rem 0; }

    ">>.

tables() ->
    <<"
    /* A shadow at the side where a table goes on. */
    .scroll { overflow-x: auto; margin: .6rem 0;
      background: linear-gradient(90deg, var(--paper) 40%, transparent) 0 0 / 2rem 100% no-repeat local,
        linear-gradient(270deg, var(--paper) 40%, transparent) 100% 0 / 2rem 100% no-repeat local,
        linear-gradient(90deg, var(--line), transparent) 0 0 / .8rem 100% no-repeat scroll,
        linear-gradient(270deg, var(--line), transparent) 100% 0 / .8rem 100% no-repeat scroll; }
    table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
    caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
    th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line);
      white-space: nowrap; vertical-align: top; }
    th { font-weight: 600; } td.number, th.number { text-align: right; }
    td.long { white-space: normal; min-width: 14rem; overflow-wrap: anywhere; }
    tr.first th, tr.first td { border-top: 2px solid var(--line); }
    td.faster, td.less { color: var(--good); font-weight: 600; }
    td.slower, td.more, td.refuse, td.void { color: var(--bad); font-weight: 600; }
    td.unsure, td.warn, td.varying { color: var(--open); }

    ">>.

plots() ->
    <<"
    .plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1.2rem 2rem; }
    figure { margin: 0; break-inside: avoid; min-width: 0; }
    figcaption { font-weight: 600; overflow-wrap: anywhere; }
    figcaption span { display: block; font-weight: 400; color: var(--soft); }
    .plot { display: block; overflow: hidden; font: 13px system-ui, sans-serif; }
    .plot text { fill: var(--ink); }
    .plot .tick { fill: var(--soft); font-size: 12px; }
    .plot .note { font-variant-numeric: tabular-nums; }
    .plot line { stroke: currentColor; stroke-width: 2; }
    .plot line.grid { stroke: var(--line); stroke-width: 1; }
    .plot line.one { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 4 3; }
    .plot .floor { fill: var(--floor); }
    .plot .half, .plot .band { fill: var(--line); }
    .plot .bars { fill: var(--arm1); opacity: .45; }
    .plot .dots { fill: none; stroke: var(--arm1); stroke-width: 2; vector-effect: non-scaling-stroke; }
    .plot line.median { stroke: var(--ink); }
    .plot .ratio { color: var(--ink); }
    .plot .ratio path { fill: currentColor; stroke: currentColor; stroke-width: 2; }
    .plot .faster, .plot .less, .plot .same { color: var(--good); }
    .plot .slower, .plot .more { color: var(--bad); }
    .plot .unsure, .plot .varying, .plot .void { color: var(--open); }
    .plot .unsure path, .plot .varying path, .plot .void path, .plot .none path { fill: var(--paper); }
    .plot .trail line { stroke-width: 1; opacity: .35; }
    .swatch { display: inline-block; width: 1.6rem; height: .9rem; background: var(--floor); vertical-align: -1px;
      margin-right: .4rem; }

    ">>.

%% The baseline is grey; the arms compared with it are coloured.
arms() ->
    [[<<".arm">>, N, <<" { color: var(--arm">>, N, <<"); fill: var(--arm">>, N, <<"); }\n">>]
     || N <- [<<"0">>, <<"1">>, <<"2">>, <<"3">>, <<"4">>]]
        ++ [<<".aside path { fill: var(--paper); stroke: currentColor; stroke-width: 1.5; }\n">>].

media() ->
    <<"
    @media (max-width: 40rem) {
      table { font-size: .875rem; }
      th[scope=row] { white-space: normal; min-width: 7rem; max-width: 10rem; }
      .verdict { padding: .8rem .9rem; }
      dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; }
    }
    @media print {
      body { font-size: 10pt; }
      main { max-width: none; padding: 0; }
      nav, .skip { display: none; }
      .verdict, .swatch, .plot { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
      .plots { grid-template-columns: 1fr 1fr; }
      h2, h3, h4 { break-after: avoid; }
      .scroll { overflow: visible; background: none; }
      th, td { white-space: normal; padding-right: .5rem; }
      tr { break-inside: avoid; }
    }
    ">>.
