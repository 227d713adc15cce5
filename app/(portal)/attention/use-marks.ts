'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { toast } from '#app/_ui/toast.tsx';

/** The actions that assign and snooze problems. */
export interface Marks {
  assign(key: string, member: { id: string; name: string } | null): void;
  /** Snoozes a problem until a time or, if `until` is null, until the problem changes. */
  snooze(key: string, until: Date | null): void;
  unsnooze(key: string): void;
}

/** Returns the actions on problems. Each action shows what it did or why it failed, and reloads the list. */
export function useMarks(): Marks {
  const { t } = useTranslation('attention');
  const trpc = useTRPC();
  const client = useQueryClient();
  const explain = useProblem();
  const onSettled = () => client.invalidateQueries({ queryKey: trpc.attention.pathKey() });
  const failed = (key: 'assign.failed' | 'snooze.failed') => (error: unknown) =>
    toast(t(key, { reason: explain(error).message }));
  const assignment = { onSettled, onError: failed('assign.failed') };
  const snoozing = { onSettled, onError: failed('snooze.failed') };
  const assign = useMutation(trpc.attention.assign.mutationOptions(assignment));
  const unassign = useMutation(trpc.attention.unassign.mutationOptions(assignment));
  const snooze = useMutation(trpc.attention.snooze.mutationOptions(snoozing));
  const unsnooze = useMutation(trpc.attention.unsnooze.mutationOptions(snoozing));
  return {
    assign: (key, member) =>
      member === null
        ? unassign.mutate({ key }, { onSuccess: () => toast(t('assigned.removed')) })
        : assign.mutate(
            { key, memberId: member.id },
            { onSuccess: () => toast(t('assigned.done', { name: member.name })) },
          ),
    snooze: (key, until) =>
      snooze.mutate(
        { key, until: until?.toISOString() ?? null },
        {
          onSuccess: () =>
            toast(t('snooze.done'), {
              undo: { label: t('undo'), run: () => unsnooze.mutate({ key }) },
            }),
        },
      ),
    unsnooze: (key) => unsnooze.mutate({ key }, { onSuccess: () => toast(t('snooze.ended')) }),
  };
}
