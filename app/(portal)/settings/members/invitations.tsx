'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferOutput } from '@trpc/tanstack-react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { Namespaces } from '../role-cell.tsx';

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
  if (invitations.data.items.length === 0 && invitations.error === null) return null;
  return (
    <Card>
      <CardHeader title={t('settings:invitations')} />
      {invitations.error === null && revoke.error === null ? null : (
        <QueryError
          error={invitations.error ?? revoke.error}
          title={t('settings:invitations.failed')}
          onRetry={() => {
            revoke.reset();
            return invitations.refetch();
          }}
        />
      )}
      <TableFrame label={t('settings:invitations')}>
        <Table>
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
                <Td className="whitespace-normal">
                  <Namespaces role={invitation.role} namespaces={invitation.namespaces} />
                </Td>
                <Td className="text-ink-2">{invitation.createdBy ?? t('settings:invitations.portal')}</Td>
                <Td end className="text-ink-2">
                  <DateTime value={invitation.expiresAt} />
                </Td>
                <Td end className="w-px">
                  <Button
                    size="sm"
                    variant="danger"
                    busy={revoke.isPending && revoke.variables.id === invitation.id}
                    aria-label={t('settings:invitations.revoke.label', { role: t(`common:role.${invitation.role}`) })}
                    onClick={() => revoke.mutate({ id: invitation.id })}
                  >
                    {t('settings:invitations.revoke')}
                  </Button>
                </Td>
              </Tr>
            ))}
          </TBody>
        </Table>
      </TableFrame>
    </Card>
  );
}
