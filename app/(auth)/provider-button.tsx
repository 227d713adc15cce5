'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { goToProvider } from '#app/_lib/sign-in.ts';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { FieldError } from '#app/_ui/field.tsx';

export interface ProviderButtonProps {
  provider: { name: string; isAway: boolean };
  next: string;
  /** The one-time token of an invitation. */
  invitation?: string;
}

/** Signs in, or accepts an invitation, through the OpenID provider. Shows an error if the provider does not respond. */
export function ProviderButton({ provider, next, invitation }: ProviderButtonProps) {
  const { t } = useTranslation('auth');
  const explain = useProblem();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const { name, isAway } = provider;

  async function go() {
    setBusy(true);
    setError(undefined);
    try {
      await goToProvider(next, invitation);
    } catch (thrown) {
      setBusy(false);
      setError(explain(thrown).message);
    }
  }

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
      <Button busy={busy} className="h-auto min-h-9 w-full py-1.5 whitespace-normal" onClick={() => void go()}>
        {t(invitation === undefined ? 'provider.signIn' : 'provider.join', { name })}
      </Button>
      {error !== undefined ? (
        <div role="alert">
          <FieldError>{error}</FieldError>
        </div>
      ) : isAway ? (
        <p className="text-12 text-ink-2">{t('provider.away', { name })}</p>
      ) : null}
    </div>
  );
}
