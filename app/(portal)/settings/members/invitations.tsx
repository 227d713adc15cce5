'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useFormat } from '#app/_ui/format.ts';
import { toast } from '#app/_ui/toast.tsx';
import { ResourceTable } from '../resource-table.tsx';
import type { InvitationList, NewInvitation } from './invitation.ts';
import { InvitationRow } from './invitation-row.tsx';

const ConfirmationDialog = dynamic(
  () => import('#app/(auth)/second-factor/confirmation-dialog.tsx').then((module) => module.ConfirmationDialog),
  { ssr: false },
);
const ShownOnceDialog = dynamic(() => import('../shown-once-dialog.tsx').then((module) => module.ShownOnceDialog), {
  ssr: false,
});

/** Invitations that have not been used. The card is hidden if there are none. */
export function Invitations({ first }: { first: InvitationList }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const explain = useProblem();
  const invitations = useQuery({ ...trpc.invitations.list.queryOptions(), initialData: first });
  const { renew, revoke } = useInvitationActs();
  const needsConfirmation = renew.error !== null && explain(renew.error).code === 'confirmation_required';
  const error = invitations.error ?? revoke.error ?? (needsConfirmation ? null : renew.error);
  const { items } = invitations.data;
  if (renew.data === undefined && items.length === 0 && invitations.error === null) return null;
  const retry = () => {
    revoke.reset();
    renew.reset();
    return invitations.refetch();
  };
  return (
    <ResourceTable
      title={t('invitations')}
      query={{ data: invitations.data, error, refetch: retry }}
      failedTitle={t('invitations.failed')}
      columns={[
        { label: t('invitations.recipient') },
        { label: t('role') },
        { label: t('namespaces') },
        { label: t('invitations.by') },
        { label: t('invitations.expires'), end: true },
      ]}
      row={(invitation) => (
        <InvitationRow
          key={invitation.id}
          invitation={invitation}
          isRenewing={renew.isPending && renew.variables.id === invitation.id}
          isRevoking={revoke.isPending && revoke.variables.id === invitation.id}
          onRenew={() => renew.mutate({ id: invitation.id })}
          onRevoke={() => revoke.mutate({ id: invitation.id })}
        />
      )}
    >
      {needsConfirmation ? (
        <ConfirmationDialog
          why={t('invite.confirm')}
          onDone={() => renew.variables === undefined || renew.mutate(renew.variables)}
          onClose={renew.reset}
        />
      ) : null}
      {renew.data === undefined ? null : <RenewedLink invitation={renew.data} onClose={renew.reset} />}
    </ResourceTable>
  );
}

function useInvitationActs() {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const revoke = useMutation(
    trpc.invitations.revoke.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries(trpc.invitations.pathFilter());
        toast(t('invitations.revoke.done'));
      },
    }),
  );
  const renew = useMutation(
    trpc.invitations.renew.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.invitations.pathFilter()),
    }),
  );
  return { renew, revoke };
}

function RenewedLink({ invitation, onClose }: { invitation: NewInvitation; onClose(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const format = useFormat();
  const { expiresAt, role, link } = invitation;
  return (
    <ShownOnceDialog
      title={t('settings:invite.done.title')}
      description={t('settings:invite.done.why', {
        time: format.dateTime(expiresAt, 'short'),
        role: t(`common:role.${role}`),
      })}
      value={link}
      onClose={onClose}
    />
  );
}
