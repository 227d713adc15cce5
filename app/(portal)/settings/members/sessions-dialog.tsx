'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { BrowserList } from '../browser-list.tsx';
import type { Member } from './member.ts';

/** A member's sessions, with buttons to end them. */
export function SessionsDialog({ member, onClose }: { member: Member; onClose(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const sessions = useQuery(trpc.members.sessions.queryOptions({ memberId: member.id }));
  const end = useMutation(
    trpc.members.endSessions.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.members.pathFilter()),
    }),
  );
  const items = sessions.data?.items ?? [];
  const error = sessions.error ?? end.error;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="wide"
      title={t('settings:sessions.title', { name: member.name })}
      footer={
        <>
          {items.length > 0 ? (
            <Button
              variant="danger"
              busy={end.isPending && end.variables.id === undefined}
              onClick={() => end.mutate({ memberId: member.id })}
            >
              {t('settings:sessions.endAll', { count: items.length })}
            </Button>
          ) : null}
          <Button onClick={onClose}>{t('common:close')}</Button>
        </>
      }
    >
      {error === null ? null : <QueryError error={error} onRetry={sessions.refetch} />}
      {sessions.data === undefined ? (
        error === null ? (
          <SkeletonRows columns={['w-40', 'w-24']} rows={2} label={t('common:loading')} />
        ) : null
      ) : items.length === 0 ? (
        <p className="text-ink-2">{t('settings:sessions.none')}</p>
      ) : (
        <div className="-mx-4">
          <BrowserList
            label={t('settings:sessions')}
            items={items}
            ending={end.isPending ? end.variables.id : undefined}
            onEnd={({ id }) => end.mutate({ memberId: member.id, id })}
          />
        </div>
      )}
    </Dialog>
  );
}
