'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { usePathname } from 'next/navigation';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { ProviderButton } from '../provider-button.tsx';
import { Confirmation, kindsOf } from './confirmation.tsx';

interface ConfirmationDialogProps {
  /** One sentence about why a confirmation is needed. */
  why: string;
  onDone(): void;
  onClose(): void;
}

/** Asks for the password or a second factor. Members who have neither can only sign in through the provider again. */
export function ConfirmationDialog({ why, onDone, onClose }: ConfirmationDialogProps) {
  const { t } = useTranslation(['account', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const here = usePathname();
  const { data: account, error, refetch } = useQuery(trpc.account.get.queryOptions());
  return (
    <Dialog open onOpenChange={onClose} title={t('account:confirm.title')} description={why}>
      {account === undefined ? (
        error === null ? (
          <SkeletonRows columns={['w-40']} rows={2} label={t('account:confirm.title')} />
        ) : (
          <QueryError error={error} onRetry={refetch} />
        )
      ) : kindsOf(account).length === 0 && account.provider !== null ? (
        <ProviderButton provider={{ name: account.provider, isAway: false }} next={here} />
      ) : (
        <Confirmation
          account={account}
          onDone={() => {
            void queryClient.invalidateQueries(trpc.account.pathFilter());
            onDone();
          }}
        />
      )}
    </Dialog>
  );
}
