'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferOutput } from '@trpc/tanstack-react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { BrowserList } from '../browser-list.tsx';

type SessionList = inferOutput<ReturnType<typeof useTRPC>['account']['sessions']>;

/** The reader's sessions, with buttons to end them. */
export function Sessions({ first }: { first: SessionList }) {
  const { t } = useTranslation('account');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const sessions = useQuery({ ...trpc.account.sessions.queryOptions(), initialData: first });
  const refresh = () => queryClient.invalidateQueries(trpc.account.sessions.queryFilter());
  const end = useMutation(trpc.account.endSession.mutationOptions({ onSuccess: refresh }));
  const endOthers = useMutation(
    trpc.account.endOtherSessions.mutationOptions({
      onSuccess: async ({ ended }) => {
        await refresh();
        toast(t('sessions.endOthers.done', { count: ended }));
      },
    }),
  );
  const { items } = sessions.data;
  const error = sessions.error ?? end.error ?? endOthers.error;
  return (
    <Card>
      <CardHeader
        title={t('sessions')}
        note={t('sessions.note')}
        actions={
          items.some((browser) => !browser.isThis) ? (
            <Button size="sm" busy={endOthers.isPending} onClick={() => endOthers.mutate()}>
              {t('sessions.endOthers')}
            </Button>
          ) : undefined
        }
      />
      {error === null ? null : (
        <QueryError
          error={error}
          onRetry={() => {
            end.reset();
            endOthers.reset();
            return sessions.refetch();
          }}
        />
      )}
      <BrowserList
        label={t('sessions')}
        items={items}
        ending={end.isPending ? end.variables.id : undefined}
        onEnd={({ id }) => end.mutate({ id })}
      />
    </Card>
  );
}
