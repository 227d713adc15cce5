'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { TemplateText } from './template-text.tsx';
import type { EditedMessages } from './use-messages.ts';

/** Asks which text to keep if two people changed the same text. */
export function Conflict({ lang, id, messages }: { lang: string; id: string; messages: EditedMessages }) {
  const { t } = useTranslation('localization');
  const conflict = messages.conflictOf(lang, id);
  if (conflict === undefined) return null;
  const { theirs, who } = conflict;
  return (
    <div
      role="alert"
      data-st="warning"
      className="grid gap-1.5 rounded-md bg-st-tint p-2 text-12 text-ink shadow-[inset_0_0_0_1px_var(--st-line)] [--cut:var(--st-tint)]"
    >
      <p className="flex items-baseline gap-1.5 text-st-text">
        <StatusIcon status="warning" className="relative top-0.5 shrink-0" />
        {theirs === '' ? t('conflict.removed', { who }) : t('conflict', { who })}
      </p>
      {theirs === '' ? null : (
        <p lang={lang} className="wrap-anywhere">
          <TemplateText text={theirs} />
        </p>
      )}
      <span className="flex flex-wrap gap-1.5">
        <Button size="sm" onClick={() => messages.decide(lang, id, 'mine')}>
          {t('conflict.mine')}
        </Button>
        <Button size="sm" onClick={() => messages.decide(lang, id, 'theirs')}>
          {t('conflict.theirs')}
        </Button>
      </span>
    </div>
  );
}
