'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { InstanceDetails, VmFacts } from './vm-data.ts';

export interface ReleaseSecretsDialogProps {
  facts: VmFacts;
  view: InstanceDetails;
  onClose(): void;
}

/** Shows which protected settings will be encrypted for which key, and releases them for that key only. */
export function ReleaseSecretsDialog({ facts, view, onClose }: ReleaseSecretsDialogProps) {
  const { t } = useTranslation('enrollment');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const { id: vmId, name, thumbprint, enrolledAt, enrolledBy } = facts;
  const release = useMutation(
    trpc.goalStates.releaseSecrets.mutationOptions({
      onSuccess: ({ incarnation }) => toast(t('release.done', { name, incarnation })),
      onSettled: () =>
        Promise.all(
          [trpc.vms, trpc.instanceViews, trpc.goalStates].map((part) =>
            queryClient.invalidateQueries(part.pathFilter()),
          ),
        ),
    }),
  );
  const withheld = view.extensions.filter(({ needsRelease }) => needsRelease);
  return (
    <ConfirmDialog
      open
      tone="default"
      onOpenChange={onClose}
      title={t('release.title', { name })}
      description={t('release.what')}
      confirmLabel={t('release.act')}
      onConfirm={() => release.mutateAsync({ vmId, ...(thumbprint !== null && { thumbprint }) })}
      error={release.error ? explain(release.error).message : undefined}
    >
      <dl className="grid gap-x-4 sm:gap-y-1.5 sm:grid-cols-[max-content_minmax(0,1fr)]">
        <Fact label={t('release.extensions')}>
          <span translate="no">{withheld.map((extension) => extension.name).join(', ')}</span>
        </Fact>
        <Fact label={t('release.key')}>
          <code translate="no" className="mono break-all">
            {thumbprint}
          </code>
        </Fact>
        <Fact label={t('release.enrolled')}>
          {enrolledAt === null ? t('release.unknown') : <RelativeTime value={new Date(enrolledAt)} />}
        </Fact>
        <Fact label={t('release.issuer')}>
          {enrolledBy === null ? t('release.unknown') : <span translate="no">{enrolledBy}</span>}
        </Fact>
      </dl>
    </ConfirmDialog>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-12 text-ink-2 max-sm:mt-1 sm:pt-px">{label}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
