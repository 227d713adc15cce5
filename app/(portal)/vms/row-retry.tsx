'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { FleetRow } from './reading.ts';

/** Runs the handler of a failing extension again. If several extensions fail, a menu lists them. */
export function RowRetry({ row }: { row: FleetRow }) {
  const { t } = useTranslation('vms');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const reader = useReader();
  const explain = useProblem();
  const retry = useMutation(
    trpc.goalStates.retryExtension.mutationOptions({
      onSuccess: (_, { name }) => toast(t('retry.done', { name, vm: row.name })),
      onError: (error) => toast(t('retry.failed', { vm: row.name, reason: explain(error).message })),
      onSettled: () => queryClient.invalidateQueries(trpc.fleet.pathFilter()),
    }),
  );
  const isSilent = row.agent.status === 'unresponsive';
  const failing = row.extensions.filter(({ health }) => health === 'failed' || health === 'degraded');
  const [first, ...others] = failing;
  if (first === undefined || isSilent || row.decommissioning || !reader.can('operator')) return null;
  const button = (label: string, run?: () => void) => (
    <IconButton
      size="sm"
      label={label}
      busy={retry.isPending}
      // Placed above the link that covers the row.
      className="relative z-1 -my-1 shrink-0"
      {...(run && { onClick: run })}
    >
      <RotateCw aria-hidden />
    </IconButton>
  );
  const start = (name: string) => retry.mutate({ vmId: row.id, name });
  if (others.length === 0) {
    return button(t('retry.of', { name: first.name, vm: row.name }), () => start(first.name));
  }
  return (
    <LazyMenu trigger={button(t('retry.some', { vm: row.name }))} align="start">
      {({ MenuItem }) =>
        failing.map(({ name }) => (
          <MenuItem key={name} onSelect={() => start(name)}>
            <RotateCw aria-hidden />
            {t('retry.one', { name })}
          </MenuItem>
        ))
      }
    </LazyMenu>
  );
}
