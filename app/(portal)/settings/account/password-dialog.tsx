'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { changePassword } from '#app/_lib/sign-in.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { PasswordInput } from '#app/(auth)/password-input.tsx';
import { FormDialog } from '../form-dialog.tsx';

/** The same limit as in server/auth/passwords.ts, which enforces it. */
const shortestPassword = 12;

/** Changes the password, which ends all other sessions. */
export function PasswordDialog({ email, onClose }: { email: string; onClose(): void }) {
  const { t } = useTranslation(['account', 'auth']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [wasTried, setTried] = useState(false);
  const change = useMutation({
    mutationFn: () => changePassword(current, next),
    onSuccess: async () => {
      await queryClient.invalidateQueries(trpc.account.pathFilter());
      toast(t('account:password.done'));
      onClose();
    },
  });
  const problem = change.error === null ? undefined : explain(change.error);
  const currentError = faultAt(problem, '/currentPassword');
  const isShort = next.length < shortestPassword;
  const nextError =
    wasTried && isShort
      ? t('auth:setUp.password.short', { n: next.length, min: shortestPassword })
      : faultAt(problem, '/newPassword');
  return (
    <FormDialog
      title={t('account:password.change')}
      description={t('account:password.why')}
      act={t('account:password.act')}
      busy={change.isPending}
      onEdit={() => forgetError(change)}
      onSubmit={() => {
        setTried(true);
        if (!isShort) change.mutate();
      }}
      onClose={onClose}
      error={currentError === undefined && nextError === undefined ? problem?.message : undefined}
    >
      {/* Tells password managers which account the password belongs to. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <Field label={t('account:password.current')} error={currentError}>
        <PasswordInput
          required
          autoComplete="current-password"
          maxLength={1024}
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
      </Field>
      <Field
        label={t('account:password.new')}
        hint={t('auth:setUp.password.hint', { n: shortestPassword })}
        error={nextError}
      >
        <PasswordInput
          required
          autoComplete="new-password"
          maxLength={128}
          value={next}
          onChange={(event) => setNext(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}
