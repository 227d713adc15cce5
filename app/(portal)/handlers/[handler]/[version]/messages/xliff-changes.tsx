'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import type { XliffOutcome } from './send-xliff.ts';
import { TemplateText } from './template-text.tsx';

const shownRows = 100;
const shownFindings = 50;

/** The numbers of changes, the warnings, and the changed texts before and after the change. */
export function XliffChanges({ outcome }: { outcome: XliffOutcome }) {
  const { t } = useTranslation('localization');
  const { lang, added, changed, same, untranslated, changes, findings } = outcome;
  const rows = changes.slice(0, shownRows);
  const more = added + changed - rows.length;
  const counts = [
    added > 0 ? t('xliff.added', { count: added }) : null,
    changed > 0 ? t('xliff.changed', { count: changed }) : null,
    same > 0 ? t('xliff.same', { count: same }) : null,
    untranslated > 0 ? t('xliff.untranslated', { count: untranslated }) : null,
  ].filter((part) => part !== null);
  return (
    <>
      <p className="text-ink-2 tabular-nums">{counts.length === 0 ? t('xliff.nothing') : counts.join(', ')}</p>
      {findings.length === 0 ? null : (
        <ul aria-label={t('xliff.findings')} data-st="warning" className="grid max-h-40 gap-0.5 overflow-y-auto">
          {findings.slice(0, shownFindings).map((finding) => (
            <li
              key={`${finding.path} ${finding.code}`}
              className="flex items-baseline gap-1.5 text-12 text-st-text [--cut:var(--raised)]"
            >
              <StatusIcon status="warning" className="relative top-0.5 shrink-0" />
              <span className="min-w-0 wrap-anywhere">{finding.message}</span>
            </li>
          ))}
          {findings.length > shownFindings ? (
            <li className="text-12 text-ink-3">{t('xliff.more', { count: findings.length - shownFindings })}</li>
          ) : null}
        </ul>
      )}
      {rows.length === 0 ? null : (
        <TableFrame label={t('xliff.changes')} className="max-h-80 overflow-y-auto shadow-hair-subtle">
          <Table className="table-fixed">
            <THead>
              <tr>
                <Th className="w-36">{t('column.id')}</Th>
                <Th>{t('xliff.before')}</Th>
                <Th>{t('xliff.after')}</Th>
              </tr>
            </THead>
            <TBody>
              {rows.map(({ id, before, after }) => (
                <Tr key={id}>
                  <Td translate="no" className="mono truncate" title={id}>
                    {id}
                  </Td>
                  <Td className="py-1.5 wrap-anywhere whitespace-normal text-ink-2" lang={lang}>
                    {before === null ? (
                      <span className="text-ink-3">{t('notTranslated')}</span>
                    ) : (
                      <TemplateText text={before} />
                    )}
                  </Td>
                  <Td className="py-1.5 wrap-anywhere whitespace-normal" lang={lang}>
                    <TemplateText text={after} />
                  </Td>
                </Tr>
              ))}
            </TBody>
          </Table>
        </TableFrame>
      )}
      {more > 0 && rows.length > 0 ? <p className="text-12 text-ink-3">{t('xliff.more', { count: more })}</p> : null}
    </>
  );
}
