'use client';

import { useEffect, useRef, useState } from 'react';
import type { Problem, ProblemFault } from '#app/_lib/problem.ts';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { canonical, type Goal } from './draft.ts';

/** How long nothing must be typed before the portal is asked, in milliseconds. */
const pause = 350;

export interface Check {
  faults: readonly ProblemFault[];
  /** The portal could not check: it does not answer, or the extension cannot be set at all. */
  problem: Problem | null;
  /** What is on the screen has been checked. */
  settled: boolean;
}

/**
 * Asks the portal what it would refuse, a moment after the last change. The call is no query: what is typed may hold
 * secrets, and a query would keep them in its cache.
 */
export function useCheck(vmId: string, name: string, goal: Goal, enabled: boolean): Check {
  const client = useTRPCClient();
  const explain = useProblem();
  const [check, setCheck] = useState<Check>({ faults: [], problem: null, settled: false });
  const latest = useRef({ goal, explain });
  useEffect(() => {
    latest.current = { goal, explain };
  });
  // A digest would do, but the text is at hand and lives no longer than what is typed.
  const text = canonical(goal);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the goal is asked for again when its text differs
  useEffect(() => {
    if (!enabled) return;
    const abort = new AbortController();
    setCheck((before) => ({ ...before, settled: false }));
    const timer = setTimeout(async () => {
      try {
        const answer = await client.goalStates.checkExtension.mutate(
          { vmId, name, goal: latest.current.goal },
          { signal: abort.signal },
        );
        setCheck({ faults: answer.faults.map(atGoal), problem: null, settled: true });
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = latest.current.explain(error);
        const faults = problem.faults.map(atGoal);
        setCheck({ faults, problem: faults.length > 0 ? null : problem, settled: true });
      }
    }, pause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, vmId, name, text, enabled]);
  return check;
}

/** Faults of the call itself stand below `/goal`; the others start there. */
export function atGoal(fault: ProblemFault): ProblemFault {
  return fault.path.startsWith('/goal/') ? { ...fault, path: fault.path.slice('/goal'.length) } : fault;
}
