'use client';

import { useEffect, useRef, useState } from 'react';
import type { ExplainedProblem, ProblemFault } from '#app/_lib/problem.ts';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';

/** Milliseconds to wait after the last change before checking. */
const pause = 350;

export interface PlanCheck {
  /** The error code that the plan would get; 0 if it can run, null if the text is not JSON. */
  code: number | null;
  faults: readonly ProblemFault[];
  /** Whether the plan has the format vCurrent. */
  converted: boolean;
  /** Why the plan could not be checked, such as a portal that does not respond. */
  problem: ExplainedProblem | null;
}

/**
 * Checks a plan shortly after the last change, with a VM also against what its machine can run. `settled` is whether the check
 * is about the current text.
 */
export function usePlanCheck(vmId: string | undefined, text: string): { check: PlanCheck | null; settled: boolean } {
  const client = useTRPCClient();
  const explain = useProblem();
  const [told, setTold] = useState<{ about: string; check: PlanCheck } | null>(null);
  const latest = useRef(explain);
  useEffect(() => {
    latest.current = explain;
  });
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const judged = await client.executions.validate.mutate(
          { ...(vmId !== undefined && { vmId }), plan: text },
          { signal: abort.signal },
        );
        setTold({ about: text, check: { ...judged, problem: null } });
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = latest.current(error);
        const { faults } = problem;
        const check = { code: null, faults, converted: false, problem: faults.length > 0 ? null : problem };
        setTold({ about: text, check });
      }
    }, pause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, vmId, text]);
  return { check: told?.check ?? null, settled: told?.about === text };
}
