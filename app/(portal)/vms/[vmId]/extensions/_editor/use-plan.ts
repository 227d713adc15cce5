'use client';

import type { inferRouterOutputs } from '@trpc/server';
import { useEffect, useRef, useState } from 'react';
import type { ExplainedProblem, ProblemFault } from '#app/_lib/problem.ts';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import type { PlanSubject } from './corrected.ts';
import { canonical, type Goal } from './draft.ts';
import type { SecretChanges } from './use-editing.ts';

/** Milliseconds to wait after the last change before requesting a plan. */
const pause = 350;

export type DraftPlan = inferRouterOutputs<AppRouter>['goalStates']['planExtension'];

export interface Planned {
  /** The last plan, which may be older than the draft; null before the first plan and after planning fails. */
  plan: DraftPlan | null;
  faults: readonly ProblemFault[];
  /** Why planning failed without `faults`, for example because the portal does not respond. */
  problem: ExplainedProblem | null;
  /** Whether the plan matches the current draft. */
  settled: boolean;
  /** The declaration that `faults` are about; null before the first plan. */
  subject: PlanSubject | null;
}

export interface PlanInput {
  vmId: string;
  name: string;
  goal: Goal;
  secretChanges: SecretChanges;
  siblings: boolean;
  enabled: boolean;
  /** Increases whenever something changes that the plan may depend on. */
  stamp: number;
}

/**
 * Plans the draft shortly after the last change, and whenever the VM or a handler changes. Does not use a query,
 * because a query's cache would keep the secrets of the draft.
 */
export function usePlan({ vmId, name, goal, secretChanges, siblings, enabled, stamp }: PlanInput): Planned {
  const client = useTRPCClient();
  const explain = useProblem();
  const [told, setTold] = useState<Omit<Planned, 'settled'> & { about: string }>({
    plan: null,
    faults: [],
    problem: null,
    subject: null,
    about: '',
  });
  const latest = useRef({ goal, secretChanges, explain });
  useEffect(() => {
    latest.current = { goal, secretChanges, explain };
  });
  // The text contains the typed secrets, but stays in the memory of this page.
  const text = canonical({ vmId, name, goal, secretChanges, siblings });
  const about = `${stamp} ${text}`;

  useEffect(() => {
    if (!enabled) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const { goal, secretChanges, explain } = latest.current;
      const subject = { name, goal, changes: secretChanges };
      try {
        const plan = await client.goalStates.planExtension.mutate(
          { vmId, name, goal, changes: secretChanges, siblings },
          { signal: abort.signal },
        );
        setTold({ plan, faults: plan.faults, problem: null, subject, about });
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = explain(error);
        const faults = problem.faults.map(atGoal);
        setTold({ plan: null, faults, problem: faults.length > 0 ? null : problem, subject, about });
      }
    }, pause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, vmId, name, siblings, about, enabled]);
  return { ...told, settled: enabled && told.about === about };
}

/** Removes `/goal` from the path of a fault, because paths on this page start below it. */
function atGoal(fault: ProblemFault): ProblemFault {
  return fault.path.startsWith('/goal/') ? { ...fault, path: fault.path.slice('/goal'.length) } : fault;
}
