'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { copyText } from '#app/_ui/copy-text.ts';
import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { printed } from './draft.ts';

/** Copies the typed public settings to the clipboard. Shown if the extension or VM was deleted or is being removed. */
export function CopySettings({ settings, small = false }: { settings: SettingsObject; small?: boolean }) {
  const { t } = useTranslation('editor');
  return (
    <Button
      size={small ? 'sm' : 'default'}
      onClick={() =>
        void copyText(printed(settings)).then((copied) => toast(t(copied ? 'live.copied' : 'live.notCopied')))
      }
    >
      {t('live.copy')}
    </Button>
  );
}
