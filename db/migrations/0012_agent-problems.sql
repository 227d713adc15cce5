CREATE TABLE "agent_problems" (
	"vm_id" uuid NOT NULL,
	"about" text NOT NULL,
	"message" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "agent_problems_vm_id_about_pk" PRIMARY KEY("vm_id","about")
);
--> statement-breakpoint
ALTER TABLE "agent_problems" ADD CONSTRAINT "agent_problems_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;