'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { countChanges, type ShownPlan } from './document-data.ts';
import type { DocumentDraft } from './use-document.ts';

export interface ApplyBarProps {
  model: string;
  draft: DocumentDraft;
  /** The plan of the text; undefined while there is none. */
  plan: ShownPlan | undefined;
  isPending: boolean;
  onDiscard(): void;
  onApply(plan: ShownPlan): void;
}

/** Applies or discards the draft. Stays at the bottom of the window. */
export function ApplyBar({ model, draft, plan, isPending, onDiscard, onApply }: ApplyBarProps) {
  const { t } = useTranslation('services');
  const changes = plan === undefined ? 0 : countChanges(plan);
  const isOpen = draft.isChanged || draft.prune;
  if (!isOpen && changes === 0) return null;
  return (
    <div className="sticky bottom-0 z-10 max-sm:bottom-(--tabbar) -mx-(--gutter) mt-4 flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line-subtle bg-surface px-(--gutter) py-2.5">
      <p className="min-w-0 flex-[1_1_16rem] text-12 text-ink-2">{t('document.promise', { model })}</p>
      <Button variant="ghost" disabled={isPending} onClick={onDiscard}>
        {t('document.discard')}
      </Button>
      <Button
        variant="primary"
        disabled={plan === undefined || changes === 0 || isPending}
        onClick={() => plan !== undefined && onApply(plan)}
      >
        {changes === 0 ? t('document.apply') : t('document.applyChanges', { count: changes })}
      </Button>
    </div>
  );
}
