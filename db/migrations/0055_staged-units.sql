ALTER TABLE "services" ADD COLUMN "staged_version" text;--> statement-breakpoint
ALTER TABLE "services" ADD COLUMN "staged_settings_version" integer;--> statement-breakpoint
ALTER TABLE "relation_units" ADD COLUMN "moved_clock" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "hook_runs" ADD COLUMN "due_address" jsonb;