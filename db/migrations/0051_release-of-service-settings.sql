ALTER TABLE "agents" ADD COLUMN "issuer_key" text;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "issuer_is_admin" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "units" ADD COLUMN "released_machine_at" timestamp with time zone;--> statement-breakpoint
UPDATE "agents" a SET "issuer_key" = t."issued_by", "issuer_is_admin" = u."role" = 'admin'
  FROM "enrollment_tokens" t JOIN "users" u ON 'user:' || u."id" = t."issued_by"
 WHERE t."vm_id" = a."vm_id" AND t."used_at" = a."enrolled_at" AND a."kind" = 'reference';
