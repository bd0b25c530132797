package rabbitserver

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/provision"
)

var profiler = &provision.Profiler{Name: "the stacks that Erlang shows of its processes", File: "profile.folded", Begin: profile}

// sampler is a process of Erlang that looks a hundred times a second at what others run, or could run if a scheduler were free, and each second
// writes how often it has seen each stack. What began a process is the outermost frame. Erlang's own profilers, eprof and fprof, trace
// every call, which takes most of the time; msacc knows no functions.
const sampler = `spawn(fun() ->
  process_flag(priority, high),
  Name = fun(M, F, A) -> io_lib:format("~s:~s/~w", [M, F, A]) end,
  Frame = fun({M, F, A, _}) when is_list(A) -> Name(M, F, length(A)); ({M, F, A, _}) -> Name(M, F, A) end,
  See = fun(P, Seen) ->
    case P =/= self() andalso erlang:process_info(P, status) of
      {status, S} when S =:= running; S =:= runnable ->
        case erlang:process_info(P, current_stacktrace) of
          {current_stacktrace, Stack} ->
            {M, F, A} = proc_lib:translate_initial_call(P),
            Key = iolist_to_binary(lists:join(";", [Name(M, F, A) | [Frame(X) || X <- lists:reverse(Stack)]])),
            maps:update_with(Key, fun(N) -> N + 1 end, 1, Seen);
          _ -> Seen
        end;
      _ -> Seen
    end
  end,
  Loop = fun(Again, N, Seen) ->
    New = lists:foldl(See, Seen, erlang:processes()),
    case N rem 100 of
      0 -> file:write_file(%[1]q, [[K, " ", integer_to_list(C), "\n"] || {K, C} <- maps:to_list(New)]);
      _ -> ok
    end,
    timer:sleep(10),
    Again(Again, N + 1, New)
  end,
  Loop(Loop, 1, #{})
end), ok.`

func profile(ctx context.Context, n *provision.Node) error {
	said, err := control(ctx, n, "eval", fmt.Sprintf(sampler, n.Profile()))
	if err != nil {
		return fmt.Errorf("%s: %w", said, err)
	}
	return nil
}
