%% What each amount costs with its tax.
-module(tax).
-export([total/2]).

total([], Sum) -> Sum;
total([Amount | Amounts], Sum) -> total(Amounts, Sum + Amount + rate(Amount) * Amount div 100).

rate(Amount) when Amount rem 3 =:= 0 -> 7;
rate(_) -> 19.
