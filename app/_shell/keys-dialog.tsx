'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useKeyList } from '../_lib/keys.tsx';
import { Dialog } from '../_ui/dialog.tsx';
import { Kbd } from '../_ui/kbd.tsx';

const drawn: Readonly<Record<string, string>> = { ArrowDown: '↓', ArrowUp: '↑', Enter: '↵', Escape: 'esc', ' ': '␣' };

/** `g v` is two strokes, a blank alone is one. */
const strokesOf = (key: string): string[] => (key === ' ' ? [key] : key.split(' '));

/** The keys that work now: those that work everywhere, then the page's own. */
export function KeysDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('navigation');
  const groups = useKeyList();
  return (
    <Dialog open onOpenChange={onClose} title={t('keys')}>
      {groups.map((group, index) => (
        <section key={group.map((binding) => binding.key).join()}>
          <h3 className="pb-1 text-12 font-medium text-ink-3">{index === 0 ? t('keys.everywhere') : t('keys.here')}</h3>
          <dl className="grid gap-1">
            {index === 0 ? (
              <div className="flex items-center gap-3">
                <dt className="flex w-12 shrink-0 gap-1">
                  <Kbd>Ctrl</Kbd>
                  <Kbd>K</Kbd>
                </dt>
                <dd>{t('palette')}</dd>
              </div>
            ) : null}
            {group.map((binding) => (
              <div key={binding.key} className="flex items-center gap-3">
                <dt className="flex w-12 shrink-0 gap-1">
                  {strokesOf(binding.key).map((stroke) => (
                    <Kbd key={stroke}>{drawn[stroke] ?? stroke}</Kbd>
                  ))}
                </dt>
                <dd>{binding.label}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
