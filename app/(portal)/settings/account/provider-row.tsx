'use client';

import { useMutation } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { connectProvider } from '#app/_lib/sign-in.ts';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { Row } from './rows.tsx';

const ConfirmationDialog = dynamic(
  () => import('#app/(auth)/second-factor/confirmation-dialog.tsx').then((module) => module.ConfirmationDialog),
  { ssr: false },
);

interface ProviderRowProps {
  name: string;
  isConnected: boolean;
  /** A sentence about why connecting an account failed. */
  refused: string | undefined;
}

/** The member's account at the OpenID provider, and a button that connects or replaces the account. */
export function ProviderRow({ name, isConnected, refused }: ProviderRowProps) {
  const { t } = useTranslation('account');
  const explain = useProblem();
  const connect = useMutation({ mutationFn: connectProvider });
  const problem = connect.error === null ? undefined : explain(connect.error);
  const needsConfirmation = problem?.code === 'confirmation_required';
  const message = needsConfirmation ? undefined : (problem?.message ?? (connect.isIdle ? refused : undefined));
  return (
    <Row
      label={t('provider')}
      note={t('provider.what', { name })}
      actions={
        <Button size="sm" busy={connect.isPending || connect.isSuccess} onClick={() => connect.mutate()}>
          {t(isConnected ? 'provider.replace' : 'provider.connect', { name })}
        </Button>
      }
    >
      {t(isConnected ? 'provider.connected' : 'provider.none', { name })}
      {message === undefined ? null : (
        <div role="alert">
          <FieldError>{message}</FieldError>
        </div>
      )}
      {needsConfirmation ? (
        <ConfirmationDialog why={t('confirm.why')} onDone={() => connect.mutate()} onClose={() => connect.reset()} />
      ) : null}
    </Row>
  );
}
