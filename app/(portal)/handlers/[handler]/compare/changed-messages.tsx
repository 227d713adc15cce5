'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { TemplateText } from '../[version]/messages/template-text.tsx';
import { ChangeSign } from './change-sign.tsx';
import type { Comparison } from './comparison.ts';

/** English texts that were added, removed or changed. */
export function ChangedMessages({ messages, className }: { messages: Comparison['messages']; className?: string }) {
  const { t } = useTranslation(['packages', 'localization']);
  const more = messages.total - messages.changed.length;
  const note =
    messages.total === 0
      ? t(messages.same === 0 ? 'packages:compare.none' : 'packages:compare.unchanged')
      : `${t('packages:compare.differ', { count: messages.total })}, ${t('packages:compare.unchangedCount', { count: messages.same })}`;
  return (
    <Card className={className}>
      <CardHeader title={t('packages:compare.messages')} note={note} />
      {messages.total === 0 ? null : (
        <TableFrame label={t('packages:compare.messages')} className="max-h-[32rem] overflow-y-auto">
          <Table className="min-w-[640px] table-fixed">
            <THead>
              <tr>
                <Th className="w-56">{t('localization:column.id')}</Th>
                <Th>{t('packages:compare.before')}</Th>
                <Th>{t('packages:compare.after')}</Th>
              </tr>
            </THead>
            <TBody>
              {messages.changed.map(({ name, before, after }) => (
                <Tr key={name}>
                  <Td title={name}>
                    <span className="flex items-center gap-2">
                      <ChangeSign before={before} after={after} />
                      <span translate="no" className="mono min-w-0 truncate">
                        {name}
                      </span>
                    </span>
                  </Td>
                  <Td className="py-1.5 wrap-anywhere whitespace-normal text-ink-2" lang="en">
                    <TemplateText text={before ?? ''} />
                  </Td>
                  <Td className="py-1.5 wrap-anywhere whitespace-normal" lang="en">
                    <TemplateText text={after ?? ''} />
                  </Td>
                </Tr>
              ))}
            </TBody>
          </Table>
        </TableFrame>
      )}
      {more > 0 ? (
        <CardBody className="pt-2">
          <p className="text-12 text-ink-3">{t('packages:compare.more', { count: more })}</p>
        </CardBody>
      ) : null}
    </Card>
  );
}

/** The number of texts that were added, removed or changed, by language. */
export function ChangedLanguages({ languages }: { languages: Comparison['languages'] }) {
  const { t } = useTranslation('packages');
  const differing = languages.filter(({ added, removed, changed }) => added + removed + changed > 0);
  const note = differing.length > 0 ? undefined : t(languages.length === 0 ? 'compare.none' : 'compare.unchanged');
  return (
    <Card>
      <CardHeader title={t('languages.title')} note={note} />
      {differing.length === 0 ? null : (
        <CardBody className="max-h-96 overflow-y-auto">
          <ul>
            {differing.map(({ lang, added, removed, changed }) => (
              <li key={lang} className="flex min-h-7 items-center gap-2">
                <span translate="no" className="mono min-w-0 truncate">
                  {lang}
                </span>
                <span className="ms-auto text-12 text-ink-2 tabular-nums">
                  {[
                    added > 0 ? t('compare.texts.added', { count: added }) : null,
                    removed > 0 ? t('compare.texts.removed', { count: removed }) : null,
                    changed > 0 ? t('compare.texts.changed', { count: changed }) : null,
                  ]
                    .filter((part) => part !== null)
                    .join(', ')}
                </span>
              </li>
            ))}
          </ul>
        </CardBody>
      )}
    </Card>
  );
}
