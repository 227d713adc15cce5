'use client';

import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Table, TBody, THead, Th } from '#app/_ui/table.tsx';
import { MessageRow } from './message-row.tsx';
import type { EditedMessages } from './use-messages.ts';

export interface MessageTableProps {
  messages: EditedMessages;
  /** Languages that have a column. */
  languages: readonly string[];
  ids: readonly string[];
  mayEdit: boolean;
  /** The open message, and the language whose field gets the focus. */
  open: { id: string; lang: string } | undefined;
  onOpen(open: { id: string; lang: string } | undefined): void;
  samples: readonly string[];
}

const rowHeight = 36;

/** Messages by language. Only visible rows and a few around them are in the document. */
export function MessageTable({ messages, languages, ids, mayEdit, open, onOpen, samples }: MessageTableProps) {
  const { t } = useTranslation('localization');
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: ids.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => ids[index] ?? index,
    overscan: 10,
    // `flushSync` would render the rows a second time on every scroll event.
    useFlushSync: false,
    initialRect: { width: 1200, height: 480 },
  });
  const openId = open?.id;
  useEffect(() => {
    const at = openId === undefined ? -1 : ids.indexOf(openId);
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [openId, ids, virtual]);
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  const missing = (lang: string) => messages.missing.get(lang) ?? 0;
  return (
    <section
      ref={frame}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={t('table')}
      className="relative max-h-[min(70vh,640px)] overflow-auto"
    >
      <Table className="table-fixed" style={{ minWidth: 160 + languages.length * 240 }} aria-rowcount={ids.length + 1}>
        <THead>
          <tr>
            <Th className="w-44">{t('column.id')}</Th>
            {languages.map((lang) => (
              <Th key={lang}>
                <span translate="no" className="mono text-ink-2">
                  {lang}
                </span>
                {missing(lang) > 0 ? <span className="ms-2">{t('missing', { count: missing(lang) })}</span> : null}
              </Th>
            ))}
          </tr>
        </THead>
        <TBody>
          {before > 0 ? <Spacer height={before} columns={languages.length + 1} /> : null}
          {items.map((item) => {
            const id = ids[item.index];
            if (id === undefined) return null;
            return (
              <MessageRow
                key={item.key}
                ref={virtual.measureElement}
                index={item.index}
                id={id}
                messages={messages}
                languages={languages}
                mayEdit={mayEdit}
                focusOn={openId === id ? open?.lang : undefined}
                onOpen={onOpen}
                samples={samples}
              />
            );
          })}
          {after > 0 ? <Spacer height={after} columns={languages.length + 1} /> : null}
        </TBody>
      </Table>
    </section>
  );
}

function Spacer({ height, columns }: { height: number; columns: number }) {
  return (
    <tr aria-hidden style={{ height }}>
      <td colSpan={columns} />
    </tr>
  );
}
