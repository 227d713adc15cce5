'use client';

import { useRouter } from 'next/navigation';
import { useRef, useState } from 'react';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import type { PlanView, RolloutView } from '#server/domain/rollouts/index.ts';

/** Seconds for which the portal holds its answer while it checks the plan. */
const wait = 20;

export interface Starting {
  busy: boolean;
  problem: ExplainedProblem | null;
  /** Starts the rollout exactly as planned. Returns whether it started. */
  start(rollout: RolloutView, plan: PlanView, acceptOverlap: readonly string[]): Promise<boolean>;
  forget(): void;
}

/** Starts a planned rollout and opens its page. If the plan is out of date, `onMovedOn` gets the rollout with the reason. */
export function useStart(onMovedOn: (rollout: RolloutView) => void): Starting {
  const client = useTRPCClient();
  const router = useRouter();
  const explain = useProblem();
  const running = useRef(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ExplainedProblem | null>(null);

  async function start(rollout: RolloutView, plan: PlanView, acceptOverlap: readonly string[]): Promise<boolean> {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setProblem(null);
    try {
      const { id } = rollout;
      const accepted = plan.overlaps
        .filter((overlap) => acceptOverlap.includes(overlap.id))
        .map((overlap) => overlap.id);
      let started = await client.rollouts.start.mutate({ id, plan: plan.hash, acceptOverlap: accepted, wait });
      while (started.state === 'checking') started = await client.rollouts.get.query({ id, wait });
      if (started.state === 'planned' || started.state === 'draft') {
        onMovedOn(started);
        return false;
      }
      router.push(`/rollouts/${id}`);
      return true;
    } catch (error) {
      setProblem(explain(error));
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  }

  return { busy, problem, start, forget: () => setProblem(null) };
}
