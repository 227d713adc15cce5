'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { canUsePasskeys } from '#app/_lib/passkeys.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { FactorForm, type FactorKind } from '../factor-form.tsx';
import type { Account } from './account.ts';

/** Asks again who sits there, before a change of what this person signs in with. */
export function Confirmation({ account, onDone }: { account: Account; onDone(): void }) {
  const trpc = useTRPC();
  const start = useMutation(trpc.account.startConfirmation.mutationOptions());
  const confirm = useMutation(trpc.account.confirm.mutationOptions());
  const kinds = kindsOf(account);
  return (
    <FactorForm
      kinds={kinds}
      askPasskey={() => start.mutateAsync()}
      onShow={async (shown) => {
        await confirm.mutateAsync(shown);
        onDone();
      }}
    />
  );
}

/** What somebody can confirm with; empty for those whom only the provider knows. */
export function kindsOf(account: Account): FactorKind[] {
  const kinds: FactorKind[] = [];
  if (account.hasPassword) kinds.push('password');
  if (account.passkeys.length > 0 && canUsePasskeys()) kinds.push('passkey');
  if (account.totp !== null) kinds.push('totp');
  if (account.recoveryCodesLeft > 0) kinds.push('recoveryCode');
  return kinds;
}

/** Some time before the server forgets a proof, so that none ends between a question and its answer. */
const reserveMs = 60_000;

/** Whether the last proof still counts. It is asked when something begins, and set when it was given anew. */
export function useIsConfirmed(account: Account): [boolean, () => void] {
  const [until, setUntil] = useState(account.confirmedUntil.getTime());
  return [until - Date.now() > reserveMs, () => setUntil(Date.now() + 10 * reserveMs)];
}
