'use client';

import type { inferRouterOutputs } from '@trpc/server';
import { useEffect, useRef, useState } from 'react';
import type { ExplainedProblem, ProblemFault } from '#app/_lib/problem.ts';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import { canonical, type Goal } from './draft.ts';

/** How long nothing must be typed before the portal is asked, in milliseconds. */
const pause = 350;

export type ExtensionPlan = inferRouterOutputs<AppRouter>['goalStates']['planExtension'];

export interface Planned {
  /** The last plan that was told; what was typed since may be another. Null until there is one. */
  plan: ExtensionPlan | null;
  faults: readonly ProblemFault[];
  /** The portal could not plan: it does not answer, or the extension cannot be set at all. */
  problem: ExplainedProblem | null;
  /** What is told is about what is on the screen. */
  settled: boolean;
}

export interface PlanInput {
  vmId: string;
  name: string;
  goal: Goal;
  siblings: boolean;
  enabled: boolean;
  /** Rises when something changed that a plan may be about. */
  stamp: number;
}

/**
 * Asks the portal what an apply would do, a moment after the last change and whenever the VM or a handler changed. The
 * call is no query: what is typed may hold secrets, and a query would keep them in its cache.
 */
export function usePlan({ vmId, name, goal, siblings, enabled, stamp }: PlanInput): Planned {
  const client = useTRPCClient();
  const explain = useProblem();
  const [told, setTold] = useState<Omit<Planned, 'settled'> & { about: string }>({
    plan: null,
    faults: [],
    problem: null,
    about: '',
  });
  const latest = useRef({ goal, explain });
  useEffect(() => {
    latest.current = { goal, explain };
  });
  // A digest would do, but the text is at hand and lives no longer than what is typed.
  const text = canonical({ vmId, name, goal, siblings });
  const about = `${stamp} ${text}`;

  useEffect(() => {
    if (!enabled) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const plan = await client.goalStates.planExtension.mutate(
          { vmId, name, goal: latest.current.goal, siblings },
          { signal: abort.signal },
        );
        setTold({ plan, faults: plan.faults, problem: null, about });
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = latest.current.explain(error);
        const faults = problem.faults.map(atGoal);
        setTold({ plan: null, faults, problem: faults.length > 0 ? null : problem, about });
      }
    }, pause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, vmId, name, siblings, about, enabled]);
  return { plan: told.plan, faults: told.faults, problem: told.problem, settled: enabled && told.about === about };
}

/** Faults of the call itself stand below `/goal`; the others start there. */
function atGoal(fault: ProblemFault): ProblemFault {
  return fault.path.startsWith('/goal/') ? { ...fault, path: fault.path.slice('/goal'.length) } : fault;
}
