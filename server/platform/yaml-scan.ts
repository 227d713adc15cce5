import { CST, type Lexer, type Parser } from 'yaml';

/** A feature of YAML that is not accepted, and its position in the text. */
export interface ScannedFault {
  code:
    | 'json_too_deep'
    | 'yaml_alias'
    | 'yaml_broken'
    | 'yaml_directive'
    | 'yaml_documents'
    | 'yaml_tag'
    | 'yaml_too_long';
  offset: number;
}

const maxFaults = 100;
/** Characters that YAML forbids. The parser also uses some of them internally. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what the pattern finds
const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/**
 * Reads the tokens of a text, and finds everything in it that is valid YAML but is not accepted. Stops at excessive
 * nesting, because building values is recursive, and at an excessive number of pieces.
 */
export function scanYaml(
  text: string,
  { maxDepth, maxPieces }: { maxDepth: number; maxPieces: number },
  parser: Parser,
  lexer: Lexer,
): { tokens: CST.Token[]; faults: ScannedFault[] } {
  const forbidden = text.search(control);
  const tokens: CST.Token[] = [];
  let pieces = 0;
  for (const lexeme of lexer.lex(forbidden < 0 ? text : text.slice(0, forbidden))) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    pieces += 1;
    if (pieces > maxPieces) return { tokens: [], faults: [{ code: 'yaml_too_long', offset: parser.offset }] };
    if (parser.stack.length > maxDepth && depthOf(parser.stack) > maxDepth) {
      return { tokens: [], faults: [{ code: 'json_too_deep', offset: parser.offset - lexeme.length }] };
    }
  }
  for (const token of parser.end()) tokens.push(token);
  if (forbidden >= 0) return { tokens: [], faults: [{ code: 'yaml_broken', offset: forbidden }] };
  return { tokens, faults: faultsIn(tokens).slice(0, maxFaults) };
}

const depthOf = (stack: readonly CST.Token[]): number => stack.filter((token) => CST.isCollection(token)).length;

function faultsIn(tokens: readonly CST.Token[]): ScannedFault[] {
  const faults: ScannedFault[] = [];
  let documents = 0;
  for (const token of tokens) {
    if (token.type === 'directive') faults.push({ code: 'yaml_directive', offset: token.offset });
    if (token.type !== 'document') continue;
    documents += 1;
    if (documents === 2) faults.push({ code: 'yaml_documents', offset: token.offset });
    if (documents === 1) collect(token, faults);
  }
  return faults.sort((a, b) => a.offset - b.offset);
}

/** Adds the aliases, anchors and tags of a document. The document's depth is already limited. */
function collect(document: CST.Document, faults: ScannedFault[]): void {
  const properties = (list: readonly CST.Token[] | undefined) => {
    for (const token of list ?? []) {
      if (token.type === 'anchor') faults.push({ code: 'yaml_alias', offset: token.offset });
      if (token.type === 'tag') faults.push({ code: 'yaml_tag', offset: token.offset });
    }
  };
  const visit = (token: CST.Token | null | undefined) => {
    if (!token) return;
    if (token.type === 'alias') faults.push({ code: 'yaml_alias', offset: token.offset });
    if (token.type === 'block-scalar') properties(token.props);
    if (!CST.isCollection(token)) return;
    for (const item of token.items) {
      properties(item.start);
      properties(item.sep);
      visit(item.key);
      visit(item.value);
    }
  };
  properties(document.start);
  visit(document.value);
}
