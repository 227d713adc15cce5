'use client';

import { ChevronRight } from 'lucide-react';
import { Fragment, useId, useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Status } from '#app/_ui/status.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import { ExtensionCard, type ExtensionCardProps } from './extension-card.tsx';
import type { Extension } from './vm-data.ts';

export interface ExtensionTableProps extends Omit<ExtensionCardProps, 'extension'> {
  /** Sorted, worst first. */
  extensions: readonly Extension[];
}

/** The extensions of a VM with many extensions: a row for each extension. A row opens to show the card. */
export function ExtensionTable({ extensions, ...card }: ExtensionTableProps) {
  const { t } = useTranslation(['reports', 'vms']);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (name: string) =>
    setOpen((before) =>
      before.has(name) ? new Set([...before].filter((one) => one !== name)) : new Set([...before, name]),
    );
  return (
    <Card>
      <TableFrame label={t('reports:extensions.table')}>
        <Table className="table-fixed">
          <colgroup>
            <col className="w-[30%] max-sm:w-[52%]" />
            <col className="w-36 max-sm:w-auto" />
            <col className="max-sm:w-0" />
          </colgroup>
          <THead>
            <tr>
              <Th>{t('reports:extensions.column.name')}</Th>
              <Th>{t('vms:column.health')}</Th>
              <Th className="max-sm:hidden">{t('reports:extensions.column.message')}</Th>
            </tr>
          </THead>
          <TBody>
            {extensions.map((extension) => (
              <Fragment key={extension.name}>
                <ExtensionRow
                  extension={extension}
                  isOpen={open.has(extension.name)}
                  onToggle={() => toggle(extension.name)}
                />
                {open.has(extension.name) ? (
                  <tr>
                    <td colSpan={3} className="border-b border-line-subtle bg-sunken px-4 py-3">
                      <ExtensionCard {...card} extension={extension} />
                    </td>
                  </tr>
                ) : null}
              </Fragment>
            ))}
          </TBody>
        </Table>
      </TableFrame>
    </Card>
  );
}

interface ExtensionRowProps {
  extension: Extension;
  isOpen: boolean;
  onToggle(): void;
}

function ExtensionRow({ extension, isOpen, onToggle }: ExtensionRowProps) {
  const { t } = useTranslation('reports');
  const id = useId();
  const { name, handler, version, goalVersion, health, waiting, notice, status } = extension;
  const own = notice === null ? null : t(`said.${notice.code}`, notice.values);
  const message = own ?? status?.message?.text ?? t('card.noMessage');
  const lang = own === null && status?.message ? (canonicalLanguage(status.message.lang) ?? '') : undefined;
  return (
    <Tr className="relative">
      <Td className="overflow-hidden">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-labelledby={id}
          onClick={onToggle}
          className="flex w-full min-w-0 items-center gap-1.5 text-start after:absolute after:inset-0 focus-visible:shadow-none focus-visible:after:shadow-[inset_0_0_0_2px_var(--brand-text)]"
        >
          <ChevronRight
            aria-hidden
            className={cn('size-3.5 shrink-0 text-ink-3 rtl:-scale-x-100', isOpen && 'rotate-90 rtl:-rotate-90')}
          />
          <span id={id} translate="no" className="truncate font-medium" title={`${name}\n${handler}`}>
            {name}
          </span>
          <span translate="no" className="shrink-0 text-12 text-ink-3 tabular-nums max-sm:hidden">
            {version ?? goalVersion}
          </span>
        </button>
      </Td>
      <Td>
        <Status status={waiting ? 'waiting' : statusOfHealth[health]}>
          {waiting ? t('health.waiting') : t(`health.${health}`)}
        </Status>
      </Td>
      <Td className="overflow-hidden text-ink-2 max-sm:hidden">
        <bdi lang={lang} className="block truncate" title={message}>
          {isolateText(message)}
        </bdi>
      </Td>
    </Tr>
  );
}
