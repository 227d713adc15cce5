'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { toast } from '#app/_ui/toast.tsx';
import type { Goal } from './draft.ts';
import type { SecretChanges } from './use-editing.ts';
import type { DraftPlan } from './use-plan.ts';

/** A declaration to apply, with its plan. */
export interface Declaration {
  name: string;
  goal: Goal;
  secretChanges: SecretChanges;
  siblings: boolean;
  plan: DraftPlan;
}

export interface Applying {
  busy: boolean;
  /** Whether the draft was applied and the VM's page is about to open. */
  done: boolean;
  refusal: ExplainedProblem | null;
  apply(declaration: Declaration): Promise<void>;
  forget(): void;
}

/**
 * Applies exactly what was planned; if the plan is out of date, the portal rejects it. On success, opens the VM's page
 * with a toast that offers to undo the change.
 */
export function useApply(vm: { id: string; name: string }, onOutdated: () => Promise<void>): Applying {
  const { t } = useTranslation('editor');
  const router = useRouter();
  const client = useTRPCClient();
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const [state, setState] = useState<'idle' | 'busy' | 'done'>('idle');
  const [refusal, setRefusal] = useState<ExplainedProblem | null>(null);
  const running = useRef(false);

  async function undo(from: number, to: number) {
    try {
      await client.goalStates.revert.mutate({ vmId: vm.id, incarnation: to, ifMatch: from });
      toast(t('undone', { vm: vm.name, incarnation: to }));
    } catch (error) {
      toast(t('notUndone', { vm: vm.name, message: explain(error).message }));
    }
    await queries.invalidateQueries(trpc.goalStates.pathFilter());
  }

  return {
    busy: state === 'busy',
    done: state === 'done',
    refusal,
    forget: () => setRefusal(null),
    async apply({ name, goal, secretChanges, siblings, plan }) {
      if (running.current || plan.planHash === null) return;
      running.current = true;
      setState('busy');
      setRefusal(null);
      try {
        const { before } = plan.incarnation;
        // Does not use a mutation hook, because its cache would keep the secrets.
        const { incarnation } = await client.goalStates.setExtension.mutate({
          vmId: vm.id,
          name,
          goal,
          changes: secretChanges,
          siblings,
          ifMatch: before,
          plan: plan.planHash,
        });
        setState('done');
        // Otherwise the VM's page would first show the cached state from before the change.
        for (const router of [trpc.instanceViews, trpc.vms, trpc.goalStates]) {
          queries.removeQueries({ ...router.pathFilter(), type: 'inactive' });
          void queries.invalidateQueries(router.pathFilter());
        }
        toast(t('applied', { name, vm: vm.name }), {
          undo: { label: t('undo'), run: () => void undo(incarnation, before) },
        });
        router.push(`/vms/${vm.id}`);
      } catch (error) {
        const problem = explain(error);
        setRefusal(problem);
        if (problem.code === 'goal_state_moved_on' || problem.code === 'plan_moved_on') await onOutdated();
        setState('idle');
        running.current = false;
      }
    },
  };
}
