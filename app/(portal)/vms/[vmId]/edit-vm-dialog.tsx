'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { NameAndTagsForm } from '#app/(portal)/vms/name-and-tags-form.tsx';
import type { VmFacts } from './vm-data.ts';

/** Edits the name and tags of a VM. */
export function EditVmDialog({ facts, onClose }: { facts: VmFacts; onClose(): void }) {
  const { t } = useTranslation(['enrollment', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const formId = useId();
  // Keeps the original values, because the page may load other people's changes while the dialog is open.
  const [seen] = useState({ name: facts.name, tags: facts.tags });
  const update = useMutation(
    trpc.vms.update.mutationOptions({
      onSuccess: async (vm) => {
        toast(t('enrollment:edit.done', { name: vm.name }));
        onClose();
        await Promise.all([
          queryClient.invalidateQueries(trpc.vms.pathFilter()),
          queryClient.invalidateQueries(trpc.instanceViews.pathFilter()),
        ]);
      },
    }),
  );
  const problem = update.error ? explain(update.error) : undefined;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('enrollment:edit.title', { name: facts.name })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={update.isPending}>
            {t('enrollment:edit.act')}
          </Button>
        </>
      }
    >
      <NameAndTagsForm
        id={formId}
        initial={seen}
        problem={problem}
        busy={update.isPending}
        onEdit={() => forgetError(update)}
        onSubmit={(values) => update.mutate({ vmId: facts.id, ...values, seen })}
      />
    </Dialog>
  );
}
