'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type KeyBinding, useKeyList } from '../_lib/keys.tsx';
import { Dialog } from '../_ui/dialog.tsx';
import { Kbd } from '../_ui/kbd.tsx';

const drawn: Readonly<Record<string, string>> = { ArrowDown: '↓', ArrowUp: '↑', Enter: '↵', Escape: 'esc', ' ': '␣' };

/** Splits a sequence of two keys such as `g v`. A single space means the space bar. */
const strokesOf = (key: string): string[] => (key === ' ' ? [key] : key.split(' '));

/** Lists the active shortcuts: those of all pages, then those of the current page. */
export function KeysDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('navigation');
  const { everywhere, here } = useKeyList();
  return (
    <Dialog open onOpenChange={onClose} title={t('keys')}>
      <Keys title={t('keys.everywhere')} bindings={[{ key: 'Ctrl K', label: t('palette') }, ...everywhere]} />
      {here.length === 0 ? null : <Keys title={t('keys.here')} bindings={here} />}
    </Dialog>
  );
}

function Keys({ title, bindings }: { title: string; bindings: readonly Pick<KeyBinding, 'key' | 'label'>[] }) {
  return (
    <section>
      <h3 className="pb-1 text-12 font-medium text-ink-3">{title}</h3>
      <dl className="grid gap-1">
        {bindings.map(({ key, label }) => (
          <div key={key} className="flex items-center gap-3">
            <dt className="flex w-12 shrink-0 gap-1">
              {strokesOf(key).map((stroke) => (
                <Kbd key={stroke}>{drawn[stroke] ?? stroke}</Kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
