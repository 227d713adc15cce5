'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferOutput } from '@trpc/tanstack-react-query';
import dynamic from 'next/dynamic';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { narrowTable } from '../narrow-table.ts';
import { hasNamespaces, Namespaces } from '../role-cell.tsx';

const ConfirmationDialog = dynamic(
  () => import('#app/(auth)/second-factor/confirmation-dialog.tsx').then((module) => module.ConfirmationDialog),
  { ssr: false },
);
const ShownOnceDialog = dynamic(() => import('../shown-once-dialog.tsx').then((module) => module.ShownOnceDialog), {
  ssr: false,
});

type InvitationList = inferOutput<ReturnType<typeof useTRPC>['invitations']['list']>;

/** Links that nobody has used yet. Without any, the card is not there. */
export function Invitations({ first }: { first: InvitationList }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const invitations = useQuery({ ...trpc.invitations.list.queryOptions(), initialData: first });
  const revoke = useMutation(
    trpc.invitations.revoke.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries(trpc.invitations.pathFilter());
        toast(t('settings:invitations.revoke.done'));
      },
    }),
  );
  const renew = useMutation(
    trpc.invitations.renew.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.invitations.pathFilter()),
    }),
  );
  const format = useFormat();
  const explain = useProblem();
  const needsConfirmation = renew.error !== null && explain(renew.error).code === 'confirmation_required';
  const failure = invitations.error ?? revoke.error ?? (needsConfirmation ? null : renew.error);
  if (renew.data === undefined && invitations.data.items.length === 0 && invitations.error === null) return null;
  return (
    <Card>
      <CardHeader title={t('settings:invitations')} />
      {failure === null ? null : (
        <QueryError
          error={failure}
          title={t('settings:invitations.failed')}
          onRetry={() => {
            revoke.reset();
            renew.reset();
            return invitations.refetch();
          }}
        />
      )}
      <TableFrame label={t('settings:invitations')}>
        <Table className={narrowTable}>
          <THead>
            <tr>
              <Th>{t('settings:role')}</Th>
              <Th>{t('settings:namespaces')}</Th>
              <Th>{t('settings:invitations.by')}</Th>
              <Th end>{t('settings:invitations.expires')}</Th>
              <Th>
                <span className="sr-only">{t('settings:acts')}</span>
              </Th>
            </tr>
          </THead>
          <TBody>
            {invitations.data.items.map((invitation) => (
              <Tr key={invitation.id}>
                <Td className="font-medium">{t(`common:role.${invitation.role}`)}</Td>
                {hasNamespaces(invitation.role) ? (
                  <Td data-label={t('settings:namespaces')} className="whitespace-normal">
                    <Namespaces role={invitation.role} namespaces={invitation.namespaces} />
                  </Td>
                ) : (
                  <Td />
                )}
                <Td data-label={t('settings:invitations.by')} className="text-ink-2">
                  {invitation.createdBy ?? t('settings:invitations.portal')}
                </Td>
                <Td end data-label={t('settings:invitations.expires')} className="text-ink-2">
                  <DateTime value={invitation.expiresAt} />
                </Td>
                <Td end className="w-px">
                  <span className="inline-flex gap-2">
                    <Button
                      size="sm"
                      busy={renew.isPending && renew.variables.id === invitation.id}
                      aria-label={t('settings:invitations.renew.label', { role: t(`common:role.${invitation.role}`) })}
                      onClick={() => renew.mutate({ id: invitation.id })}
                    >
                      {t('settings:invitations.renew')}
                    </Button>
                    <Button
                      size="sm"
                      variant="danger"
                      busy={revoke.isPending && revoke.variables.id === invitation.id}
                      aria-label={t('settings:invitations.revoke.label', { role: t(`common:role.${invitation.role}`) })}
                      onClick={() => revoke.mutate({ id: invitation.id })}
                    >
                      {t('settings:invitations.revoke')}
                    </Button>
                  </span>
                </Td>
              </Tr>
            ))}
          </TBody>
        </Table>
      </TableFrame>
      {needsConfirmation ? (
        <ConfirmationDialog
          why={t('settings:invite.confirm')}
          onDone={() => renew.variables === undefined || renew.mutate(renew.variables)}
          onClose={renew.reset}
        />
      ) : null}
      {renew.data === undefined ? null : (
        <ShownOnceDialog
          title={t('settings:invite.done.title')}
          description={t('settings:invite.done.why', {
            time: format.dateTime(renew.data.expiresAt, 'short'),
            role: t(`common:role.${renew.data.role}`),
          })}
          value={renew.data.link}
          onClose={renew.reset}
        />
      )}
    </Card>
  );
}
