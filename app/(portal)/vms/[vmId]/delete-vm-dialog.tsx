'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { InstanceDetails, VmFacts } from './vm-data.ts';

/** Deletes a VM, either immediately or after its agent has uninstalled everything. */
export function DeleteVmDialog({ facts, view, onClose }: { facts: VmFacts; view: InstanceDetails; onClose(): void }) {
  const { t } = useTranslation('enrollment');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const explain = useProblem();
  const count = view.extensions.length;
  const [first, setFirst] = useState(count > 0 && view.agent.status === 'ready');
  const { name } = facts;
  const remove = useMutation(
    trpc.vms.remove.mutationOptions({
      onSuccess: async ({ deleted }) => {
        toast(t(deleted ? 'delete.done' : 'delete.begun', { name }));
        if (deleted) router.push('/vms');
        await queryClient.invalidateQueries(deleted ? trpc.fleet.pathFilter() : trpc.vms.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('delete.title', { name })}
      description={t(first ? 'delete.what.first' : 'delete.what')}
      confirmLabel={first ? t('delete.act.first') : t('delete.act', { name })}
      phrase={name}
      onConfirm={() => remove.mutateAsync({ vmId: facts.id, decommission: first })}
      error={remove.error ? explain(remove.error).message : undefined}
    >
      {first && view.agent.hold !== null ? <p className="text-ink-2">{t('delete.held')}</p> : null}
      {count === 0 ? null : (
        <ControlRow
          control={<Checkbox checked={first} onCheckedChange={(checked) => setFirst(checked === true)} />}
          hint={t('delete.first.hint')}
        >
          {t('delete.first', { count })}
        </ControlRow>
      )}
    </ConfirmDialog>
  );
}
