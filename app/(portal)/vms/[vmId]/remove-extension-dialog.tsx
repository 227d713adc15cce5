'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { VmFacts } from './vm-data.ts';

export interface RemoveExtensionDialogProps {
  facts: VmFacts;
  name: string;
  /**
   * Whether the extension is removed without the agent. If so, the reader must type the extension's name, because the
   * removal cannot be undone.
   */
  force: boolean;
  onClose(): void;
}

/** Asks for confirmation before removing an extension, and explains what happens on the machine. */
export function RemoveExtensionDialog({ facts, name, force, onClose }: RemoveExtensionDialogProps) {
  const { t } = useTranslation('goal-states');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const remove = useMutation(
    trpc.goalStates.removeExtension.mutationOptions({
      onSuccess: async ({ state }) => {
        toast(t(state === 'removed' ? 'force.done' : 'uninstall.done', { name }));
        await Promise.all(
          [trpc.instanceViews, trpc.vms, trpc.goalStates].map((router) =>
            queryClient.invalidateQueries(router.pathFilter()),
          ),
        );
      },
    }),
  );
  const words = { name, vm: facts.name };
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t(force ? 'force.title' : 'uninstall.title', words)}
      description={t(force ? 'force.what' : 'uninstall.what', words)}
      confirmLabel={t(force ? 'force.act' : 'uninstall.act', words)}
      {...(force && { phrase: name })}
      onConfirm={() => remove.mutateAsync({ vmId: facts.id, name, force })}
      error={remove.error ? explain(remove.error).message : undefined}
    />
  );
}
