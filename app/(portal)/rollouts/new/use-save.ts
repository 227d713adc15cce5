'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import type { RolloutView } from '#server/domain/rollouts/index.ts';
import type { SentDefinition, SentFilter } from './definition.ts';

/** Returns a function that saves the definition of a rollout and opens its page. */
export function useSave({ id, revision }: Pick<RolloutView, 'id' | 'revision'>) {
  const client = useTRPCClient();
  const router = useRouter();
  const explain = useProblem();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ExplainedProblem | null>(null);
  const save = async (definition: SentDefinition<SentFilter>) => {
    setBusy(true);
    setProblem(null);
    try {
      await client.rollouts.update.mutate({ id, revision, definition });
      router.push(`/rollouts/${id}`);
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  return { busy, problem, save };
}
