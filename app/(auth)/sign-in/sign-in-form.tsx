'use client';

import { useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { Problem } from '#app/_lib/problem.ts';
import { signIn } from '#app/_lib/session.ts';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { PasswordInput } from '../password-input.tsx';

/** Signs in and goes on to `next`. What went wrong stands above the fields until it is tried again. */
export function SignInForm({ next }: { next: string }) {
  const { t } = useTranslation('auth');
  const explain = useProblem();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const passwordRef = useRef<HTMLInputElement>(null);

  async function submit(form: FormData) {
    setBusy(true);
    setProblem(undefined);
    try {
      await signIn(String(form.get('email')), String(form.get('password')));
      // A whole new page, so that nothing read before the sign-in is shown after it.
      location.assign(next);
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
      passwordRef.current?.select();
    }
  }

  return (
    <form
      className="grid gap-4 p-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void submit(new FormData(event.currentTarget));
      }}
    >
      <h1 className="text-16 font-semibold tracking-tight">{t('signIn.title')}</h1>
      {problem === undefined ? null : (
        <Banner boxed status={problem.offline || problem.code === 'rate_limited' ? 'warning' : 'failed'} role="alert">
          {problem.message}
        </Banner>
      )}
      <Field label={t('signIn.email')}>
        <Input name="email" type="email" autoComplete="username" required autoFocus maxLength={254} />
      </Field>
      <Field label={t('signIn.password')}>
        <PasswordInput name="password" autoComplete="current-password" required maxLength={1024} ref={passwordRef} />
      </Field>
      <Button type="submit" variant="primary" busy={busy} className="h-9 w-full">
        {t('signIn.act')}
      </Button>
      <p className="text-12 text-ink-3">{t('signIn.noAccount')}</p>
    </form>
  );
}
