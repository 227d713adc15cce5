'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useId } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { EnrollCommands } from './enroll-commands.tsx';
import { NameAndTagsForm } from './name-and-tags-form.tsx';

/** Creates a VM. Shows the commands for its machine only once. */
export function EnrollDialog({ gatewayUrl, onClose }: { gatewayUrl: string; onClose(): void }) {
  const { t } = useTranslation(['vms', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const formId = useId();
  const create = useMutation(
    trpc.vms.create.mutationOptions({ onSuccess: () => queryClient.invalidateQueries(trpc.vms.pathFilter()) }),
  );
  const problem = create.error ? explain(create.error) : undefined;

  if (create.data) {
    return (
      <Dialog
        open
        size="wide"
        onOpenChange={onClose}
        title={t('vms:enrolled.title', { name: create.data.name })}
        description={t('vms:enrolled.why')}
        footer={
          <Button asChild variant="primary">
            <Link href={`/vms/${create.data.id}`}>{t('vms:enrolled.open', { name: create.data.name })}</Link>
          </Button>
        }
      >
        <EnrollCommands vm={create.data} gatewayUrl={gatewayUrl} token={create.data} before={null} />
        <p className="text-12 text-ink-3">{t('vms:enrolled.stock')}</p>
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('vms:enroll')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={create.isPending}>
            {t('vms:enroll.act')}
          </Button>
        </>
      }
    >
      <NameAndTagsForm
        id={formId}
        problem={problem}
        busy={create.isPending}
        onEdit={() => forgetError(create)}
        onSubmit={(values) => create.mutate(values)}
      />
    </Dialog>
  );
}
