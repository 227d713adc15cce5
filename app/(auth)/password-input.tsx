'use client';

import { Eye, EyeOff } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { Input } from '#app/_ui/input.tsx';

/** A password field with a button that shows or hides the password. */
export function PasswordInput(props: Omit<ComponentProps<typeof Input>, 'type' | 'after'>) {
  const { t } = useTranslation('auth');
  const [isShown, setShown] = useState(false);
  return (
    <Input
      {...props}
      type={isShown ? 'text' : 'password'}
      autoCapitalize="off"
      spellCheck={false}
      after={
        <IconButton
          size="sm"
          className="-me-1.5"
          aria-pressed={isShown}
          label={isShown ? t('password.hide') : t('password.show')}
          onClick={() => setShown(!isShown)}
        >
          {isShown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
        </IconButton>
      }
    />
  );
}
