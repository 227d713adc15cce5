import { z } from 'zod';
import { exportXliff, importXliff, xliffBytes } from '#server/domain/localization/index.ts';
import { shownWarnings } from '#server/i18n/index.ts';
import { shownXliffImport } from '../answers.ts';
import { flag, type RestRoute, route } from '../route.ts';
import { inVersion, language } from '../shapes.ts';

const type = 'application/xliff+xml';
const path = '/handlers/{handler}/versions/{version}/resources/{lang}.xlf';
const params = inVersion.extend({ lang: language.transform((lang) => lang.replace(/\.xlf$/, '')) });

/** Export and import for translators. Pages use the import for uploads, too. */
export const xliffRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path,
    operationId: 'exportXliff',
    summary: 'Exports the English messages of a version with their translations, as XLIFF 2.1 or 1.2.',
    role: 'viewer',
    params,
    query: z.object({ xliff: z.enum(['2.1', '1.2']).optional() }),
    answers: { 200: { meaning: 'The file.', types: [type] } },
    refusals: [404, 422],
    run: async (ctx, { params, query }) => {
      const { fileName, text } = await exportXliff(ctx, { ...params, ...query });
      const disposition = `attachment; filename="${fileName}"`;
      return { status: 200, text, headers: { 'content-type': type, 'content-disposition': disposition } };
    },
  }),
  route({
    method: 'PUT',
    path,
    operationId: 'importXliff',
    summary: 'Imports translations from XLIFF 1.2 or 2.x. With `dryRun`, only reports what would change.',
    role: 'publisher',
    inNamespace: true,
    params,
    query: z.object({ dryRun: flag }),
    takesFile: { types: [type, 'application/x-xliff+xml', 'application/xml', 'text/xml'], bytes: xliffBytes },
    takesIfMatch: true,
    answers: {
      200: {
        meaning: 'The changes; with `dryRun`, the changes that the import would cause.',
        schema: shownXliffImport,
      },
    },
    refusals: [404, 412],
    run: async (ctx, { params, query, file, ifMatch, language }) => {
      if (file === null) throw new Error('an import without its file');
      const { findings, ...outcome } = await importXliff(ctx, { ...params, ...query, file, revision: ifMatch });
      return { status: 200, body: { ...outcome, findings: shownWarnings(findings, language) } };
    },
  }),
];
