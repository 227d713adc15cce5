'use client';

import { useMutation } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { createPasskey, PasskeyError } from '#app/_lib/passkeys.ts';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';

export interface NewFactorProps {
  /**
   * Called with the recovery codes that were created with the factor; null if the account already had recovery codes.
   */
  onDone(made: { recoveryCodes: string[] | null }): void;
}

/** Asks for the name of a new passkey, then opens the browser's dialog. */
export function NewPasskey({ onDone }: NewFactorProps) {
  const { t } = useTranslation(['account', 'auth']);
  const trpc = useTRPC();
  const explain = useProblem();
  const [name, setName] = useState('');
  const start = useMutation(trpc.account.startPasskey.mutationOptions());
  const add = useMutation(trpc.account.addPasskey.mutationOptions());
  const make = useMutation({
    mutationFn: async () => add.mutateAsync({ name, answer: await createPasskey(await start.mutateAsync()) }),
    onSuccess: onDone,
  });
  const trouble = make.error instanceof PasskeyError ? make.error.trouble : undefined;
  const problem = make.error === null || trouble !== undefined ? undefined : explain(make.error);
  const nameError = faultAt(problem, '/name');
  return (
    <Form
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
      busy={make.isPending}
      onEdit={() => forgetError(make)}
      onSubmit={() => make.mutate()}
    >
      {trouble === undefined ? null : (
        <Banner boxed status="warning" role="alert">
          {t(`auth:passkey.${trouble}`)}
        </Banner>
      )}
      {problem === undefined || nameError !== undefined ? null : (
        <Banner boxed status="failed" role="alert">
          {problem.message}
        </Banner>
      )}
      <Field label={t('account:passkeys.name')} hint={t('account:passkeys.name.hint')} error={nameError}>
        <Input
          required
          autoFocus
          autoComplete="off"
          maxLength={60}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Button type="submit" variant="primary" busy={make.isPending} className="h-9 w-full">
        <KeyRound aria-hidden />
        {t('account:passkeys.add.act')}
      </Button>
    </Form>
  );
}
